/*
 * sanitizers.c - what the leak sanitizer is to overlook in every test: the records Clang's OpenMP
 * keeps of its own threads and leaves behind when a process ends.
 */
const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:libomp";
}
