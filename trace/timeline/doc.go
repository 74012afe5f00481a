// Package timeline tells from spans how an object came to be what it is: the
// steps from the request that created it to its pods Running.
//
// A step is one write. What it did is read from the API server's span of the
// request, who did it and why from the span that is its parent: the component,
// its decision in words, and the revision that woke it, which is one that an
// earlier step wrote. Build is a pure function, and needs spans alone; Family
// asks the API for descendants that were made by programs that record none.
package timeline
