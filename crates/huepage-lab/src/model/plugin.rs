// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the plugin and turns a model into its options.
