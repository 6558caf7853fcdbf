/* rooms.c - allocates and releases lists of arrays. */
#include "base/rooms.h"

#include <string.h>

static void *pointer_of(const imp_room *room)
{
    void *pointer;
    memcpy(&pointer, room->pointer, sizeof pointer);
    return pointer;
}

static void set_pointer(const imp_room *room, void *pointer)
{
    memcpy(room->pointer, &pointer, sizeof pointer);
}

void imp_rooms_release(const imp_room *rooms, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        imp_release(pointer_of(&rooms[i]));
        set_pointer(&rooms[i], NULL);
    }
}

bool imp_rooms_make(const imp_room *rooms, size_t count)
{
    bool enough = true;
    for (size_t i = 0; i < count; i++) {
        size_t items;
        void *pointer = NULL;
        if (enough && imp_multiply(rooms[i].rows, rooms[i].columns, &items))
            pointer = imp_allocate(items, rooms[i].size);
        set_pointer(&rooms[i], pointer);
        enough = pointer != NULL;
    }
    if (!enough)
        imp_rooms_release(rooms, count);
    return enough;
}

bool imp_rooms_reserve(const imp_room *rooms, size_t count, size_t wanted, size_t *capacity)
{
    if (wanted <= *capacity)
        return true;
    imp_rooms_release(rooms, count);
    *capacity = imp_rooms_make(rooms, count) ? wanted : 0;
    return *capacity > 0;
}
