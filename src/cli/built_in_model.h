/*
 * built_in_model.h - the model that is part of the command; cmake/models.cmake writes the bytes.
 */
#ifndef IMP_CLI_BUILT_IN_MODEL_H
#define IMP_CLI_BUILT_IN_MODEL_H

/* A model file from the first to the second; both are the same where none was built in. */
extern const unsigned char imp_built_in_model[], imp_built_in_model_end[];

/* What it is called: the name of the file without its ending. */
extern const char imp_built_in_model_name[];

#endif
