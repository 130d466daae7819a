// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pools of classified pages, placement policies, live regions.
