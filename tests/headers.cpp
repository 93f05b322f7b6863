// Empty on purpose: this target exists for its precompiled headers.
