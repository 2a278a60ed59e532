/*
 * A thread that brings a store to the disk when told to, so that the loop never waits for one
 * (durability "everysec"). Being told again while it works is remembered once.
 */
#ifndef STORE_SYNC_THREAD_H
#define STORE_SYNC_THREAD_H

#include "store/store.h"

struct sync_thread;

/* 0 or a negative errno. The store must outlive the thread. */
int sync_thread_create(struct store *store, struct sync_thread **ret_thread);
/* Finishes what was asked for and ends the thread. NULL is fine. */
void sync_thread_destroy(struct sync_thread **thread);
void sync_thread_ask(struct sync_thread *thread);
/* How many syncs failed so far, and how many were done. */
uint64_t sync_thread_errors(struct sync_thread *thread);
uint64_t sync_thread_count(struct sync_thread *thread);

#endif
