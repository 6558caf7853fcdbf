/* pictures.c - makes pictures with libpng and libjpeg, and archives with libarchive. */
#define _XOPEN_SOURCE 700 /* nftw */
#define _DEFAULT_SOURCE

#include "pictures.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <ftw.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jpeglib.h>

static void die(const char *what)
{
    perror(what);
    abort();
}

static void collect(png_structp png, png_bytep bytes, size_t size)
{
    picture_bytes *to = png_get_io_ptr(png);
    to->bytes = realloc(to->bytes, to->size + size);
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
}

picture_bytes picture_png(uint32_t width, uint32_t height, int colour_type, int bit_depth,
                          int interlaced, int transparent, const uint8_t *rows)
{
    picture_bytes out = {0};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    if (setjmp(png_jmpbuf(png)) != 0)
        die("libpng");
    png_set_write_fn(png, &out, collect, NULL);
    png_set_IHDR(png, info, width, height, bit_depth, colour_type,
                 interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_color palette[256];
    png_byte alpha = 0;
    if (colour_type == PNG_COLOR_TYPE_PALETTE) {
        int entries = 1 << bit_depth;
        for (int i = 0; i < entries; i++)
            palette[i] = (png_color){(png_byte)i, (png_byte)(2 * i), (png_byte)(255 - i)};
        png_set_PLTE(png, info, palette, entries);
        if (transparent)
            png_set_tRNS(png, info, &alpha, 1, NULL);
    }
    png_write_info(png, info);
    size_t stride = png_get_rowbytes(png, info);
    png_bytepp pointers = malloc(height * sizeof *pointers);
    for (uint32_t y = 0; y < height; y++)
        pointers[y] = (png_bytep)rows + y * stride;
    png_write_image(png, pointers);
    png_write_end(png, NULL);
    free(pointers);
    png_destroy_write_struct(&png, &info);
    return out;
}

picture_bytes picture_ramp(uint32_t width, uint32_t height, uint8_t start)
{
    uint8_t *rows = malloc((size_t)width * height);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            rows[y * width + x] = (uint8_t)(start + x + y);
    picture_bytes out = picture_png(width, height, PNG_COLOR_TYPE_GRAY, 8, 0, 0, rows);
    free(rows);
    return out;
}

picture_bytes picture_jpeg(uint32_t width, uint32_t height, int components, uint8_t value,
                           int progressive)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr manager;
    jpeg.err = jpeg_std_error(&manager);
    jpeg_create_compress(&jpeg);
    unsigned char *bytes = NULL;
    unsigned long size = 0;
    jpeg_mem_dest(&jpeg, &bytes, &size);
    jpeg.image_width = width;
    jpeg.image_height = height;
    jpeg.input_components = components;
    jpeg.in_color_space = components == 1 ? JCS_GRAYSCALE : components == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 95, TRUE);
    if (progressive)
        jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    JSAMPROW row = malloc((size_t)width * (size_t)components);
    memset(row, value, (size_t)width * (size_t)components);
    while (jpeg.next_scanline < jpeg.image_height)
        jpeg_write_scanlines(&jpeg, &row, 1);
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    free(row);
    return (picture_bytes){bytes, size};
}

void picture_save(const char *path, picture_bytes picture)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(picture.bytes, 1, picture.size, file) != picture.size ||
        fclose(file) != 0)
        die(path);
    free(picture.bytes);
}

void make_folders(const char *path)
{
    char part[1024];
    for (size_t i = 1; path[i - 1] != '\0'; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            die(part);
    }
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

int tree_teardown(void **state)
{
    int failed = nftw(*state, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(*state);
    return failed;
}

void archive_save(const char *path, const char *format, const archive_member *members, size_t count)
{
    struct archive *archive = archive_write_new();
    if (strcmp(format, "zip") == 0)
        archive_write_set_format_zip(archive);
    else
        archive_write_set_format_ustar(archive);
    if (strcmp(format, "tar.gz") == 0)
        archive_write_add_filter_gzip(archive);
    if (archive_write_open_filename(archive, path) != ARCHIVE_OK)
        die(path);
    for (size_t i = 0; i < count; i++) {
        struct archive_entry *entry = archive_entry_new();
        archive_entry_set_pathname(entry, members[i].name);
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_size(entry, (la_int64_t)members[i].content.size);
        if (archive_write_header(archive, entry) != ARCHIVE_OK ||
            archive_write_data(archive, members[i].content.bytes, members[i].content.size) < 0)
            die(archive_error_string(archive));
        archive_entry_free(entry);
    }
    archive_write_close(archive);
    archive_write_free(archive);
}
