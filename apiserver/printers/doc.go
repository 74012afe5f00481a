// Package printers makes the rows of a Table, which is how kubectl get asks for
// objects: for each kind its columns, and the cells of an object.
//
// A kind's columns are one function that returns Columns: definitions and a pure
// function from (object, now) to cells. For finds them by kind; kinds without any
// print Default. Custom makes columns of a CustomResourceDefinition's
// additionalPrinterColumns.
//
// Guarantees:
//   - names, order, types and priorities are those of the same release of
//     Kubernetes, since scripts parse them; the descriptions come from the API types
//   - columns of priority 1, shown by -o wide, are always filled in
package printers
