package trace

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Fetch reads the spans that an API server has recorded.
func Fetch(ctx context.Context, client *http.Client, server string) ([]Span, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server+SpansPath, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(response.Body, 512))
		return nil, fmt.Errorf("%s answered %s to %s, it may not be a kubesim: %s", server, response.Status, SpansPath, body)
	}
	var list SpanList
	if err := json.NewDecoder(response.Body).Decode(&list); err != nil {
		return nil, fmt.Errorf("reading the spans: %w", err)
	}
	return list.Spans, nil
}
