package apiserver

import (
	"bufio"
	"net/http"
	"sync"
	"time"
)

const (
	// writeTimeout is how long a client may take to read a piece of an answer
	// before it is cut off.
	writeTimeout = 10 * time.Second
	// answerTimeout is the same for an answer that is written in one go.
	answerTimeout = time.Minute
	// bufferedByHTTP is the size up to which net/http keeps an answer until its
	// handler is done, which then does not wait for the client.
	bufferedByHTTP = 2048
	// pieceSize is what is sent at once. net/http has 4 kB only, and a system call
	// for each.
	pieceSize = 64 << 10
)

// sender writes a long answer in pieces, each of which the client must take in time.
type sender struct {
	w          http.ResponseWriter
	connection *http.ResponseController
	buffer     *bufio.Writer // what is written but not sent yet; nil between answers
	buffers    *sync.Pool    // of *bufio.Writer
}

func (s *Server) sender(w http.ResponseWriter) *sender {
	return &sender{w: w, connection: http.NewResponseController(w), buffers: &s.buffers}
}

// setTimeout is an error on connections in memory, which end with their context.
func (s *sender) setTimeout() error {
	return s.connection.SetWriteDeadline(time.Now().Add(writeTimeout))
}

// Write implements io.Writer. It returns before the client has got everything.
func (s *sender) Write(b []byte) (int, error) {
	if s.buffer == nil {
		var ok bool
		if s.buffer, ok = s.buffers.Get().(*bufio.Writer); !ok {
			s.buffer = bufio.NewWriterSize(nil, pieceSize)
		}
		s.buffer.Reset(piece{s})
	}
	return s.buffer.Write(b)
}

// send hands on what was written.
func (s *sender) send() error {
	if s.buffer == nil {
		return nil
	}
	err := s.buffer.Flush()
	s.buffer.Reset(nil)
	s.buffers.Put(s.buffer)
	s.buffer = nil
	return err
}

// flush sends what was written to the client at once.
func (s *sender) flush() error {
	if err := s.send(); err != nil {
		return err
	}
	_ = s.setTimeout()
	return s.connection.Flush()
}

// release takes the timeout off the connection, which serves other requests next.
func (s *sender) release() {
	_ = s.send()
	_ = s.connection.SetWriteDeadline(time.Time{})
}

// piece is the sender's own end of its buffer.
type piece struct{ s *sender }

func (p piece) Write(b []byte) (int, error) {
	_ = p.s.setTimeout()
	return p.s.w.Write(b)
}
