// Package ui is the page at /ui/: the cluster seen live in a browser.
//
//   - page/ holds plain HTML, CSS and ES modules, which are embedded as they are:
//     there is no build step, and nothing is loaded from another host
//   - page/text.js has every text, in English and Chinese
//   - browser_test.go goes through the views in a headless Chromium, where there is one
//   - steps.go answers the one question that the page can't ask the API: the steps
//     from a request to what came of it
//
// Everything else the page reads from the API itself, by the same requests as any
// client: discovery, lists and watches as Tables, dry runs. It guarantees:
//
//   - Data is only ever shown as text. The Content-Security-Policy forbids scripts
//     and connections from elsewhere, and strings as markup.
//   - What it shows is bounded. Of many rows, dots or steps it shows some, and says
//     how many it does not show.
//   - It holds at most two watches, as browsers open six connections to a host.
package ui
