"""The commands of `kstreams-runbooks`, one module each: the document on stdout, everything else on stderr."""
