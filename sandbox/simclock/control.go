package simclock

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Path is where the handler is served.
const Path = "/debug/kubesim/clock"

// Command says what the clock is to do.
type Command struct {
	// Do is pause, resume, step, speed or advance; empty only asks for the state.
	Do string `json:"do,omitempty"`
	// Rate is of speed, For of advance.
	Rate float64       `json:"rate,omitempty"`
	For  time.Duration `json:"for,omitempty"`
}

// maxRate bounds how fast the clock runs, as timers would be due all the time.
const maxRate = 10000

// ServeHTTP takes a Command by POST, and tells the State.
func (c *Clock) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var command Command
	switch r.Method {
	case http.MethodGet:
	case http.MethodPost:
		if err := json.NewDecoder(io.LimitReader(r.Body, 1<<10)).Decode(&command); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	default:
		http.Error(w, "only GET and POST are served", http.StatusMethodNotAllowed)
		return
	}
	if err := c.do(r.Context(), command); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(c.State()) // the client is gone if it fails
}

func (c *Clock) do(ctx context.Context, command Command) error {
	switch command.Do {
	case "":
	case "pause":
		c.Pause()
	case "resume":
		c.Resume()
	case "step":
		stepped, err := c.Step(ctx)
		if err == nil && !stepped {
			err = errors.New("no timer to step to")
		}
		return err
	case "speed":
		if !(command.Rate > 0 && command.Rate <= maxRate) {
			return fmt.Errorf("speed %v: must be more than 0 and at most %d", command.Rate, maxRate)
		}
		c.Run(command.Rate)
	case "advance":
		if command.For <= 0 {
			return fmt.Errorf("advance %v: must be more than 0", command.For)
		}
		return c.Advance(ctx, command.For)
	default:
		return fmt.Errorf("unknown command %q: must be pause, resume, step, speed or advance", command.Do)
	}
	return nil
}

// Control gives a command to the clock of a server.
func Control(ctx context.Context, client *http.Client, server string, command Command) (State, error) {
	body, err := json.Marshal(command)
	if err != nil {
		return State{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(server, "/")+Path, bytes.NewReader(body))
	if err != nil {
		return State{}, err
	}
	response, err := client.Do(request)
	if err != nil {
		return State{}, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err != nil {
		return State{}, err
	}
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return State{}, fmt.Errorf("%s has no clock that can be controlled", server)
	default:
		return State{}, errors.New(strings.TrimSpace(string(answer)))
	}
	var state State
	return state, json.Unmarshal(answer, &state)
}
