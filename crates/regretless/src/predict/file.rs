//! Model files: safetensors with a metadata block. Loading one executes nothing.
