/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* RCU is not needed: there is one thread. */
#ifndef HARNESS_LINUX_RCUPDATE_H
#define HARNESS_LINUX_RCUPDATE_H

#define __rcu

struct rcu_head {
	int nothing;
};

#define rcu_read_lock() ((void)0)
#define rcu_read_unlock() ((void)0)
#define rcu_dereference(pointer) (pointer)
#define rcu_dereference_protected(pointer, condition) (pointer)
#define rcu_access_pointer(pointer) (pointer)
#define rcu_assign_pointer(pointer, value) ((void)((pointer) = (value)))
#define RCU_INIT_POINTER(pointer, value) ((void)((pointer) = (value)))
#define lockdep_is_held(lock) true
#define kvfree_rcu(pointer, member) kvfree(pointer)

#endif
