package trace

import "encoding/json"

// Change is what an admission plugin made of one field. Values are JSON, cut
// short where they are long, and "" for none.
type Change struct {
	By    string `json:"by"` // the plugin; with it the webhook or policy
	Field string `json:"field"`
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
}

// FormatChanges is the value of Changed.
func FormatChanges(changes []Change) string {
	text, err := json.Marshal(changes)
	if err != nil {
		return "" // never so of strings
	}
	return string(text)
}
