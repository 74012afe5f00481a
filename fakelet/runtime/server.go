package runtime

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// protocol is what a server does with a connection.
type protocol func(c *Container, conn net.Conn, port int)

// overHTTP serves requests of one connection by a handler.
func overHTTP(handle func(c *Container, port int, w http.ResponseWriter, r *http.Request)) protocol {
	return func(c *Container, conn net.Conn, port int) {
		once := &single{conn: conn, done: make(chan struct{})}
		server := &http.Server{
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				recorded := &status{ResponseWriter: w, code: http.StatusOK}
				handle(c, port, recorded, r)
				c.access(r, recorded.code)
			}),
			ReadHeaderTimeout: time.Minute,
			ConnState: func(_ net.Conn, state http.ConnState) {
				if state == http.StateClosed || state == http.StateHijacked {
					once.end()
				}
			},
			BaseContext: func(net.Listener) context.Context { return c.ctx },
		}
		stop := context.AfterFunc(c.ctx, func() { _ = conn.Close(); once.end() })
		defer stop()
		_ = server.Serve(once)
	}
}

// single is a listener of one connection.
type single struct {
	conn net.Conn
	mu   sync.Mutex
	gone bool
	once sync.Once
	done chan struct{}
}

func (s *single) end() { s.once.Do(func() { close(s.done) }) }

// Accept implements net.Listener.
func (s *single) Accept() (net.Conn, error) {
	s.mu.Lock()
	first := !s.gone
	s.gone = true
	s.mu.Unlock()
	if first {
		return s.conn, nil
	}
	<-s.done
	return nil, net.ErrClosed
}

// Close implements net.Listener.
func (s *single) Close() error { s.end(); return nil }

// Addr implements net.Listener.
func (s *single) Addr() net.Addr { return s.conn.LocalAddr() }

type status struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements http.ResponseWriter.
func (s *status) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

// Unwrap is for http.ResponseController.
func (s *status) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// access writes the line of a web server's log, and charges a little CPU time.
func (c *Container) access(r *http.Request, code int) {
	_ = c.Use(c.ctx, 20)
	if c.spec.image.name == "" {
		return
	}
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	if host == "" {
		host = "10.244.0.1"
	}
	fmt.Fprintf(c.log, "%s - - [%s] \"%s %s %s\" %d 0 \"-\" %q \"-\"\n", host, c.runtime.clock.Now().UTC().Format("02/Jan/2006:15:04:05 -0700"),
		r.Method, r.URL.RequestURI(), r.Proto, code, r.UserAgent())
}

// static serves files of a directory, as web servers do. One whose configuration
// the pod brings itself answers every path, since that is not interpreted.
func static(root string) protocol {
	return overHTTP(func(c *Container, _ int, w http.ResponseWriter, r *http.Request) {
		own := slices.ContainsFunc(c.spec.Mounts, func(m Mount) bool {
			return strings.HasPrefix(m.Path, "/etc/nginx") || strings.Contains(m.Path, "/conf")
		})
		name := path.Join(root, path.Clean("/"+r.URL.Path))
		if info, err := c.FS().Stat(name); err == nil && info.IsDir() {
			name = path.Join(name, "index.html")
		}
		w.Header().Set("Server", c.spec.image.name)
		data, err := c.FS().ReadFile(name)
		switch {
		case err == nil:
			w.Header().Set("Content-Type", contentType(name))
			_, _ = w.Write(data)
		case own:
			fmt.Fprintln(w, "ok")
		default:
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintf(w, "<html>\n<head><title>404 Not Found</title></head>\n<body>\n<center><h1>404 Not Found</h1></center>\n<hr><center>%s</center>\n</body>\n</html>\n", c.spec.image.name)
		}
	})
}

func contentType(name string) string {
	switch path.Ext(name) {
	case ".html", ".htm":
		return "text/html"
	case ".json":
		return "application/json"
	case ".css":
		return "text/css"
	}
	return "text/plain; charset=utf-8"
}

// anything is the server of an image that nobody knows: each path is fine.
var anything = overHTTP(func(c *Container, port int, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintf(w, "%s answers %s %s on port %d\n", c.spec.Hostname, r.Method, r.URL.Path, port)
})

var echoRequest = overHTTP(func(c *Container, _ int, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	switch {
	case strings.Contains(c.spec.image.name, "hostname"), c.spec.image.name == "test-webserver" && r.URL.Path == "/hostname":
		fmt.Fprintln(w, c.spec.Hostname)
		return
	}
	fmt.Fprintf(w, "Hostname: %s\nIP: %s\n%s %s %s\nHost: %s\n", c.spec.Hostname, strings.Join(c.spec.Network.Addresses(), " "), r.Method, r.URL.RequestURI(), r.Proto, r.Host)
	_ = r.Header.Write(w)
})

var helloApp = overHTTP(func(c *Container, _ int, w http.ResponseWriter, _ *http.Request) {
	version := "1.0.0"
	if _, tag, ok := strings.Cut(path.Base(c.spec.Image), ":"); ok {
		version = tag + ".0"
	}
	fmt.Fprintf(w, "Hello, world!\nVersion: %s\nHostname: %s\n", version, c.spec.Hostname)
})

// busy answers after some work, so that load shows as CPU usage.
var busy = overHTTP(func(c *Container, _ int, w http.ResponseWriter, _ *http.Request) {
	_ = c.Use(c.ctx, 1000)
	fmt.Fprint(w, "OK!")
})

var httpEcho = overHTTP(func(c *Container, _ int, w http.ResponseWriter, _ *http.Request) {
	text := "hello-world"
	for i, a := range c.spec.Argv {
		switch {
		case strings.HasPrefix(strings.TrimLeft(a, "-"), "text="):
			text = strings.TrimPrefix(strings.TrimLeft(a, "-"), "text=")
		case strings.TrimLeft(a, "-") == "text" && i+1 < len(c.spec.Argv):
			text = c.spec.Argv[i+1]
		}
	}
	fmt.Fprintln(w, strings.Trim(text, `"`))
})

// liveness is the image of Kubernetes' documentation that is healthy for ten seconds.
var liveness = overHTTP(func(c *Container, _ int, w http.ResponseWriter, _ *http.Request) {
	if up := c.runtime.clock.Since(c.spec.Started); up > 10*time.Second {
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintf(w, "error: %.9f", up.Seconds())
		return
	}
	fmt.Fprint(w, "ok")
})

// agnhost has a server for each of its commands.
func agnhost(c *Container, conn net.Conn, port int) {
	command := ""
	if len(c.spec.Argv) > 1 {
		command = c.spec.Argv[1]
	}
	switch command {
	case "liveness":
		liveness(c, conn, port)
	case "pause":
		silent(c, conn, port)
	default:
		overHTTP(func(c *Container, _ int, w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/hostname", "/hostName":
				fmt.Fprint(w, c.spec.Hostname)
			case "/clientip":
				fmt.Fprint(w, r.RemoteAddr)
			case "/echo":
				fmt.Fprint(w, r.URL.Query().Get("msg"))
			default:
				if command == "serve-hostname" {
					fmt.Fprint(w, c.spec.Hostname)
					return
				}
				fmt.Fprintf(w, "NOW: %s", c.runtime.clock.Now().UTC())
			}
		})(c, conn, port)
	}
}

// silent takes a connection and says nothing.
func silent(c *Container, conn net.Conn, _ int) {
	stop := context.AfterFunc(c.ctx, func() { _ = conn.Close() })
	defer stop()
	_, _ = io.Copy(io.Discard, conn)
	_ = conn.Close()
}

// redis knows the commands that probes and first steps need.
func redis(c *Container, conn net.Conn, _ int) {
	stop := context.AfterFunc(c.ctx, func() { _ = conn.Close() })
	defer stop()
	defer conn.Close()
	r := bufio.NewReader(conn)
	for {
		args, err := redisCommand(r)
		if err != nil {
			return
		}
		if len(args) == 0 {
			continue
		}
		if _, err := io.WriteString(conn, c.redisReply(args)); err != nil || strings.EqualFold(args[0], "quit") {
			return
		}
	}
}

// redisCommand reads an array of strings, or a line of words.
func redisCommand(r *bufio.Reader) ([]string, error) {
	line, err := r.ReadString('\n')
	if err != nil || len(line) > 4096 {
		return nil, errors.Join(err, io.EOF)
	}
	line = strings.TrimSpace(line)
	count, isArray := strings.CutPrefix(line, "*")
	if !isArray {
		return strings.Fields(line), nil
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 0 || n > 64 {
		return nil, errors.New("bad command")
	}
	args := make([]string, 0, n)
	for range n {
		head, err := r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		size, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(head, "$")))
		if err != nil || size < 0 || size > 64<<10 {
			return nil, errors.New("bad command")
		}
		data := make([]byte, size+2)
		if _, err := io.ReadFull(r, data); err != nil {
			return nil, err
		}
		args = append(args, string(data[:size]))
	}
	return args, nil
}

func (c *Container) redisReply(args []string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys, ok := c.state.(map[string]string)
	if !ok {
		keys = map[string]string{}
		c.state = keys
	}
	bulk := func(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }
	switch command := strings.ToUpper(args[0]); {
	case command == "PING" && len(args) == 1:
		return "+PONG\r\n"
	case (command == "PING" || command == "ECHO") && len(args) == 2:
		return bulk(args[1])
	case command == "SET" && len(args) > 2 && len(keys) < 1000:
		keys[args[1]] = args[2]
		return "+OK\r\n"
	case command == "GET" && len(args) == 2:
		if v, ok := keys[args[1]]; ok {
			return bulk(v)
		}
		return "$-1\r\n"
	case command == "INCR" && len(args) == 2 && len(keys) < 1000:
		n, _ := strconv.Atoi(keys[args[1]])
		keys[args[1]] = strconv.Itoa(n + 1)
		return fmt.Sprintf(":%d\r\n", n+1)
	case command == "DEL" && len(args) == 2:
		_, had := keys[args[1]]
		delete(keys, args[1])
		return fmt.Sprintf(":%d\r\n", map[bool]int{true: 1}[had])
	case command == "DBSIZE":
		return fmt.Sprintf(":%d\r\n", len(keys))
	case command == "INFO":
		return bulk("# Server\r\nredis_version:7.4.5\r\nrole:master\r\n")
	case command == "QUIT", command == "SELECT", command == "CLIENT", command == "AUTH", command == "HELLO":
		return "+OK\r\n"
	}
	return fmt.Sprintf("-ERR unknown command '%s'\r\n", args[0])
}

// Answers tells whether a server that nobody has touched has an answer of success
// for a path, as far as that can be told without asking it. alone is true for one
// without volumes.
func (p *Plan) Answers(name string, alone bool) bool {
	switch {
	case p.image.name == "":
		return true
	case !alone:
		return false
	}
	_, file := p.image.files[path.Join("/usr/share/nginx/html", name)]
	return strings.HasSuffix(p.image.name, "nginx") && (name == "/" || file)
}
