package tools

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/fakelet/runtime/process"
	"github.com/kubesim/kubesim/fakelet/runtime/vfs"
)

// client makes HTTP requests through the simulated network. TLS is not simulated:
// https is plain HTTP on its port.
func client(p *process.Process, timeout time.Duration, follow bool) *http.Client {
	c := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			host, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			n, err := strconv.Atoi(port)
			if err != nil {
				return nil, err
			}
			return p.Machine.Network().Dial(ctx, host, n)
		},
	}, Timeout: timeout}
	if !follow {
		c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	return c
}

// target makes a URL of what was typed.
func target(text string) (*url.URL, error) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	if u.Scheme == "https" {
		u.Scheme = "http"
		if u.Port() == "" {
			u.Host = net.JoinHostPort(u.Hostname(), "443")
		}
	}
	return u, nil
}

func curl(ctx context.Context, p *process.Process) int {
	o, ok := parse(p, "sSfLkivINo:OX:d:H:m:w:u:A:T:F:g4", map[string]rune{
		"silent": 's', "show-error": 'S', "fail": 'f', "location": 'L', "insecure": 'k', "include": 'i', "verbose": 'v', "head": 'I', "output": 'o',
		"request": 'X', "data": 'd', "header": 'H', "max-time": 'm', "write-out": 'w', "user": 'u', "data-raw": 'd', "data-binary": 'd', "user-agent": 'A',
		"connect-timeout": 'm', "retry": 'T', "retry-delay": 'T', "retry-connrefused": 's', "cacert": 'T', "no-progress-meter": 's', "compressed": 's', "no-buffer": 'N',
	})
	if !ok {
		return 2
	}
	if len(o.rest) == 0 {
		p.Errorf("no URL specified!")
		return 2
	}
	status := 0
	for _, text := range o.rest {
		status = curlOne(ctx, p, o, text)
	}
	return status
}

func curlOne(ctx context.Context, p *process.Process, o options, text string) int {
	u, err := target(text)
	if err != nil {
		return curlFailed(p, o, 3, "URL rejected: Malformed input to a URL function")
	}
	method := cmp.Or(o.value['X'], http.MethodGet)
	var body io.Reader
	if data := o.all['d']; len(data) > 0 {
		method = cmp.Or(o.value['X'], http.MethodPost)
		joined := strings.Join(data, "&")
		if name, isFile := strings.CutPrefix(joined, "@"); isFile {
			r, err := open(p, name)
			if err != nil {
				return curlFailed(p, o, 26, "Failed to open "+name)
			}
			body = r
		} else {
			body = strings.NewReader(joined)
		}
	}
	if o.given['I'] {
		method = http.MethodHead
	}
	request, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return curlFailed(p, o, 3, err.Error())
	}
	request.Header.Set("User-Agent", cmp.Or(o.value['A'], "curl/8.14.1"))
	request.Header.Set("Accept", "*/*")
	if len(o.all['d']) > 0 {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, h := range o.all['H'] {
		name, value, _ := strings.Cut(h, ":")
		if request.Header.Set(name, strings.TrimSpace(value)); strings.EqualFold(name, "Host") {
			request.Host = strings.TrimSpace(value)
		}
	}
	if user, password, ok := strings.Cut(o.value['u'], ":"); ok {
		request.SetBasicAuth(user, password)
	}
	limit, ok := Duration(o.value['m'])
	if !ok || o.value['m'] == "" {
		limit = 5 * time.Minute
	}
	response, err := client(p, limit, o.given['L']).Do(request)
	if err != nil {
		return curlError(p, o, u, err)
	}
	defer response.Body.Close()
	return curlAnswer(ctx, p, o, response)
}

func curlAnswer(ctx context.Context, p *process.Process, o options, response *http.Response) int {
	out := p.Stdout
	name := o.value['o']
	if o.given['O'] {
		name = path.Base(response.Request.URL.Path)
	}
	switch name {
	case "":
	case "/dev/null":
		out = io.Discard
	default:
		file, err := p.Machine.FS().Open(p.Path(name), vfs.Write|vfs.Create|vfs.Truncate)
		if err != nil {
			return curlFailed(p, o, 23, "Failed writing body")
		}
		out = file
	}
	if o.given['f'] && response.StatusCode >= 400 {
		return curlFailed(p, o, 22, fmt.Sprintf("The requested URL returned error: %d", response.StatusCode))
	}
	if o.has("iI") {
		fmt.Fprintf(out, "%s %s\r\n", response.Proto, response.Status)
		_ = response.Header.Write(out)
		fmt.Fprint(out, "\r\n")
	}
	counter := &counting{r: response.Body}
	if err := transfer(ctx, p, out, counter); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return code(err)
	}
	if format, ok := o.value['w']; ok {
		p.Printf("%s", strings.NewReplacer("%{http_code}", strconv.Itoa(response.StatusCode), "%{response_code}", strconv.Itoa(response.StatusCode),
			"%{size_download}", strconv.Itoa(counter.bytes), "%{time_total}", "0.001000", "%{url_effective}", response.Request.URL.String(), `\n`, "\n", `\t`, "\t").Replace(format))
	}
	return 0
}

func curlError(p *process.Process, o options, u *url.URL, err error) int {
	var dns *net.DNSError
	var timeout net.Error
	port := cmp.Or(u.Port(), "80")
	switch {
	case errors.As(err, &dns):
		return curlFailed(p, o, 6, "Could not resolve host: "+u.Hostname())
	case errors.As(err, &timeout) && timeout.Timeout():
		return curlFailed(p, o, 28, "Connection timed out")
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return curlFailed(p, o, 52, "Empty reply from server")
	}
	return curlFailed(p, o, 7, fmt.Sprintf("Failed to connect to %s port %s after 0 ms: Could not connect to server", u.Hostname(), port))
}

func curlFailed(p *process.Process, o options, code int, message string) int {
	if !o.given['s'] || o.given['S'] {
		fmt.Fprintf(p.Stderr, "curl: (%d) %s\n", code, message)
	}
	if format, ok := o.value['w']; ok {
		p.Printf("%s", strings.NewReplacer("%{http_code}", "000", `\n`, "\n").Replace(format))
	}
	return code
}

func wget(ctx context.Context, p *process.Process) int {
	o, ok := parse(p, "qO:T:t:cSP:U:n:", map[string]rune{
		"quiet": 'q', "output-document": 'O', "timeout": 'T', "tries": 't', "spider": 's', "no-check-certificate": 'c', "server-response": 'S', "header": 'H', "post-data": 'd',
	})
	if !ok || len(o.rest) == 0 {
		p.Errorf("usage: wget [-q] [-O FILE] [-T SEC] URL")
		return 1
	}
	u, err := target(o.rest[0])
	if err != nil {
		p.Errorf("bad address '%s'", o.rest[0])
		return 1
	}
	limit, ok := Duration(strings.TrimPrefix(o.value['T'], "="))
	if !ok || o.value['T'] == "" {
		limit = 15 * time.Minute
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		p.Errorf("%s", err)
		return 1
	}
	request.Header.Set("User-Agent", "Wget")
	addresses, err := p.Machine.Network().LookupHost(ctx, u.Hostname())
	if err != nil {
		p.Errorf("bad address '%s'", u.Host)
		return 1
	}
	if !o.given['q'] {
		fmt.Fprintf(p.Stderr, "Connecting to %s (%s)\n", u.Host, net.JoinHostPort(addresses[0], cmp.Or(u.Port(), "80")))
	}
	response, err := client(p, limit, true).Do(request)
	if err != nil {
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			p.Errorf("download timed out")
			return 1
		}
		p.Errorf("can't connect to remote host (%s): Connection refused", addresses[0])
		return 1
	}
	defer response.Body.Close()
	if response.StatusCode >= 400 {
		p.Errorf("server returned error: HTTP/1.1 %s", response.Status)
		return 1
	}
	if o.given['s'] {
		return 0
	}
	name := o.value['O']
	if name == "" {
		name = cmp.Or(strings.TrimPrefix(path.Base(u.Path), "/"), "index.html")
		if name == "." {
			name = "index.html"
		}
	}
	out := p.Stdout
	if name != "-" {
		if !o.given['q'] {
			fmt.Fprintf(p.Stderr, "saving to '%s'\n", name)
		}
		file, err := p.Machine.FS().Open(p.Path(name), vfs.Write|vfs.Create|vfs.Truncate)
		if err != nil {
			return cantOpen(p, name, err)
		}
		out = file
	} else if !o.given['q'] {
		fmt.Fprintf(p.Stderr, "writing to stdout\n")
	}
	if err := transfer(ctx, p, out, response.Body); err != nil {
		return code(err)
	}
	if !o.given['q'] {
		fmt.Fprintf(p.Stderr, "%-20s 100%% |********************************|  0:00:00 ETA\n", name)
	}
	return 0
}

// nc connects to a port, or listens on one and takes one connection.
func nc(ctx context.Context, p *process.Process) int {
	o, ok := parse(p, "lkp:w:zve:uq:s:nN", nil)
	if !ok {
		return 1
	}
	if o.given['l'] {
		text := o.value['p']
		if text == "" && len(o.rest) > 0 {
			text = o.rest[len(o.rest)-1]
		}
		return ncListen(ctx, p, o, text)
	}
	if len(o.rest) < 2 {
		p.Errorf("usage: nc [-z] [-w SEC] HOST PORT")
		return 1
	}
	port, err := strconv.Atoi(o.rest[1])
	if err != nil {
		p.Errorf("bad port '%s'", o.rest[1])
		return 1
	}
	if seconds, ok := Duration(o.value['w']); ok && o.value['w'] != "" {
		limited, cancel := context.WithTimeout(ctx, seconds)
		defer cancel()
		ctx = limited
	}
	conn, err := p.Machine.Network().Dial(ctx, o.rest[0], port)
	if err != nil {
		var dns *net.DNSError
		switch {
		case errors.As(err, &dns):
			p.Errorf("bad address '%s'", o.rest[0])
		case o.given['v'] || !o.given['z']:
			p.Errorf("%s (%s:%d): Connection refused", o.rest[0], o.rest[0], port)
		}
		return 1
	}
	defer conn.Close()
	if o.given['v'] {
		fmt.Fprintf(p.Stderr, "%s (%s:%d) open\n", o.rest[0], o.rest[0], port)
	}
	if o.given['z'] {
		return 0
	}
	return join(ctx, p, conn)
}

func ncListen(ctx context.Context, p *process.Process, o options, text string) int {
	port, err := strconv.Atoi(text)
	if err != nil {
		p.Errorf("bad port '%s'", text)
		return 1
	}
	listener, err := p.Machine.Network().Listen(port)
	if err != nil {
		p.Errorf("bind: Address already in use")
		return 1
	}
	defer listener.Close()
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	for {
		conn, err := listener.Accept()
		if err != nil {
			return code(context.Cause(ctx))
		}
		if !o.given['k'] {
			_ = listener.Close()
		}
		if program, ok := o.value['e']; ok {
			args := []string{"sh", "-c", program}
			run(ctx, p, args, func(child *process.Process) { child.Stdin, child.Stdout = conn, conn })
			_ = conn.Close()
		} else {
			join(ctx, p, conn)
		}
		if !o.given['k'] {
			return 0
		}
	}
}

// join passes what comes on either side to the other, until the peer is done, or
// until a moment after there is nothing more to send.
func join(ctx context.Context, p *process.Process, conn net.Conn) int {
	received := make(chan error, 1)
	go func() { received <- transfer(ctx, p, p.Stdout, conn) }()
	sent := make(chan error, 1)
	go func() { sent <- transfer(ctx, p, conn, p.Stdin) }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	select {
	case <-received:
	case <-sent:
		timer := p.Machine.Clock().NewTimer(time.Second)
		defer timer.Stop()
		select {
		case <-received:
		case <-timer.C():
		}
	case <-ctx.Done():
		return code(context.Cause(ctx))
	}
	_ = conn.Close()
	return 0
}

func nslookup(ctx context.Context, p *process.Process) int {
	names := slices.DeleteFunc(slices.Clone(p.Args[1:]), func(a string) bool { return strings.HasPrefix(a, "-") })
	if len(names) == 0 {
		return 1
	}
	p.Printf("Server:\t\t10.96.0.10\nAddress:\t10.96.0.10:53\n\n")
	addresses, err := p.Machine.Network().LookupHost(ctx, names[0])
	if err != nil {
		p.Printf("** server can't find %s: NXDOMAIN\n\n", names[0])
		return 1
	}
	for _, a := range addresses {
		p.Printf("Name:\t%s\nAddress: %s\n", qualified(names[0]), a)
	}
	p.Printf("\n")
	return 0
}

// qualified is a name as the cluster's DNS answers it.
func qualified(name string) string {
	if strings.HasSuffix(name, ".svc") {
		return name + ".cluster.local"
	}
	return name
}

func dig(ctx context.Context, p *process.Process) int {
	short := slices.Contains(p.Args, "+short")
	for _, name := range p.Args[1:] {
		if strings.HasPrefix(name, "+") || strings.HasPrefix(name, "-") || strings.HasPrefix(name, "@") || name == "A" {
			continue
		}
		addresses, err := p.Machine.Network().LookupHost(ctx, name)
		if err != nil {
			continue
		}
		for _, a := range addresses {
			if short {
				p.Printf("%s\n", a)
			} else {
				p.Printf("%s.\t30\tIN\tA\t%s\n", name, a)
			}
		}
	}
	return 0
}

func getent(ctx context.Context, p *process.Process) int {
	if len(p.Args) < 3 || !strings.HasPrefix(p.Args[1], "hosts") && !strings.HasPrefix(p.Args[1], "ahosts") {
		return 1
	}
	addresses, err := p.Machine.Network().LookupHost(ctx, p.Args[2])
	if err != nil {
		return 2
	}
	for _, a := range addresses {
		p.Printf("%-15s %s\n", a, p.Args[2])
	}
	return 0
}

// ping counts an address that the cluster knows as reachable.
func ping(ctx context.Context, p *process.Process) int {
	o, ok := parse(p, "c:w:W:qi:n4", nil)
	if !ok || len(o.rest) == 0 {
		return 1
	}
	count, err := o.number('c', 1<<30)
	if err != nil {
		return 1
	}
	addresses, err := p.Machine.Network().LookupHost(ctx, o.rest[0])
	if err != nil {
		p.Errorf("bad address '%s'", o.rest[0])
		return 1
	}
	p.Printf("PING %s (%s): 56 data bytes\n", o.rest[0], addresses[0])
	for i := range count {
		if i > 0 {
			if err := p.Sleep(ctx, time.Second); err != nil {
				return code(err)
			}
		}
		p.Printf("64 bytes from %s: seq=%d ttl=64 time=0.050 ms\n", addresses[0], i)
	}
	p.Printf("\n--- %s ping statistics ---\n%d packets transmitted, %d packets received, 0%% packet loss\n", o.rest[0], count, count)
	return 0
}

func ifconfig(_ context.Context, p *process.Process) int {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	for _, a := range p.Machine.Network().Addresses() {
		if path.Base(p.Args[0]) == "ip" {
			fmt.Fprintf(w, "2: eth0    inet %s/24 scope global eth0\n", a)
		} else {
			fmt.Fprintf(w, "eth0      Link encap:Ethernet\n          inet addr:%s  Mask:255.255.255.0\n", a)
		}
	}
	_ = w.Flush()
	p.Printf("%s", b.String())
	return 0
}
