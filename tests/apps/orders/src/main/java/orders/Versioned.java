package orders;

/** A serialized value that carries the version of its form, so that a later form can be told from this one. */
interface Versioned {
    /** The only form there is so far. */
    int CURRENT = 1;

    int v();
}
