/*
 * status.c - what a failure looks like: a status to decide by and a sentence to show.
 *
 * Last line: without an error to fill in: IMP_EINVAL
 */
#include <math.h>
#include <stdio.h>

#include <imp/cluster.h>
#include <imp/method.h>
#include <imp/mixture.h>

static void report(const char *what, imp_status status, const imp_error *error)
{
    printf("%s: %s, %s\n", what, imp_status_name(status), error->message);
}

int main(void)
{
    imp_error error;

    imp_method *method;
    report("a slip of the keyboard", imp_method_create("prototype", NULL, &method, &error), &error);

    imp_mixture *mixture;
    report("a file that is not there", imp_mixture_load("absent.safetensors", &mixture, &error),
           &error);

    float infinite[] = {1, 2, 3, INFINITY};
    imp_clustering *clustering;
    report("an infinite value", imp_cluster(infinite, 2, 2, NULL, &clustering, &error), &error);

    /* Pass NULL if you do not want the sentence. The output is NULL after a failure and may be
     * freed like any other. */
    imp_status status = imp_cluster(infinite, 2, 2, NULL, &clustering, NULL);
    printf("without an error to fill in: %s\n", imp_status_name(status));
    imp_clustering_free(clustering);
    return 0;
}
