package acs

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// The routes, which are matched on the path as it came. Source: docs/facts/genieacs.md#escaping.
var (
	routeTasks   = regexp.MustCompile(`^/devices/([a-zA-Z0-9\-_%]+)/tasks/?$`)
	routeTask    = regexp.MustCompile(`^/tasks/([a-zA-Z0-9\-_%]+)(/[a-zA-Z_]*)?$`)
	routeTag     = regexp.MustCompile(`^/devices/([a-zA-Z0-9\-_%]+)/tags/([a-zA-Z0-9\-_%]+)/?$`)
	routePreset  = regexp.MustCompile(`^/presets/([a-zA-Z0-9\-_%]+)/?$`)
	routeObject  = regexp.MustCompile(`^/objects/([a-zA-Z0-9\-_%]+)/?$`)
	routeFile    = regexp.MustCompile(`^/files/([a-zA-Z0-9%!*'();:@&=+$,?#[\]\-_.~]+)/?$`)
	routePing    = regexp.MustCompile(`^/ping/([a-zA-Z0-9\-_.:]+)/?$`)
	routeQuery   = regexp.MustCompile(`^/([a-zA-Z0-9_]+)/?$`)
	routeDevice  = regexp.MustCompile(`^/devices/([a-zA-Z0-9\-_%]+)/?$`)
	routeScript  = regexp.MustCompile(`^/provisions/([a-zA-Z0-9\-_%]+)/?$`)
	routeVirtual = regexp.MustCompile(`^/virtual_parameters/([a-zA-Z0-9\-_%]+)/?$`)
	routeFault   = regexp.MustCompile(`^/faults/([a-zA-Z0-9\-_%:]+)/?$`)
)

// exchange is a request of the northbound interface with what its path holds.
type exchange struct {
	s    *Simulator
	w    http.ResponseWriter
	r    *http.Request
	body []byte
	part []string // of the path, decoded
}

// route is a path with what it does for each method.
type route struct {
	form    *regexp.Regexp
	methods map[string]func(x *exchange)
	allow   string
}

// routes are in the order in which the server tries them.
var routes = []route{
	{routePreset, map[string]func(*exchange){"PUT": putPreset, "DELETE": deletePreset}, "PUT, DELETE"},
	{routeObject, map[string]func(*exchange){"PUT": putObject, "DELETE": deleteObject}, "PUT, DELETE"},
	{routeScript, map[string]func(*exchange){"PUT": putScript, "DELETE": deleteScript}, "PUT, DELETE"},
	{routeVirtual, map[string]func(*exchange){"PUT": putVirtual, "DELETE": deleteVirtual}, "PUT, DELETE"},
	{routeTag, map[string]func(*exchange){"POST": addTag, "DELETE": removeTag}, "POST, DELETE"},
	{routeFault, map[string]func(*exchange){"DELETE": deleteFault}, "DELETE"},
	{routeTasks, map[string]func(*exchange){"POST": postTask}, "POST"},
	{routeTask, nil, ""},
	{routeFile, map[string]func(*exchange){"PUT": putFile, "DELETE": deleteFile}, "PUT, DELETE"},
	{routePing, map[string]func(*exchange){
		"GET": pingHost, "HEAD": pingHost, "POST": pingHost, "PUT": pingHost, "DELETE": pingHost,
	}, ""},
	{routeDevice, map[string]func(*exchange){"DELETE": deleteDevice}, "DELETE"},
	{routeQuery, map[string]func(*exchange){"GET": query, "HEAD": query}, "GET, HEAD"},
}

// handler serves the northbound interface and the control paths.
func (s *Simulator) handler() http.Handler {
	control := http.NewServeMux()
	s.routeControl(control)
	nbi := s.faulty(s.answerNBI)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/sim/") {
			control.ServeHTTP(w, r)
			return
		}
		if len(r.RequestURI) >= maxHead {
			w.WriteHeader(http.StatusRequestHeaderFieldsTooLarge)
			return
		}
		nbi(w, r)
	})
}

// maxHead bounds the head of a request, in bytes, as Node does.
const maxHead = 16 << 10

// maxBody bounds a request, in bytes: firmware is the largest.
const maxBody = 256 << 20

// answerNBI finds the route of a request.
func (s *Simulator) answerNBI(w http.ResponseWriter, r *http.Request) {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		panic(aborted) // incomplete requests are not answered
	}
	s.mu.Lock()
	s.state.requests = append(s.state.requests, r.Method+" "+r.RequestURI)
	if n := len(s.state.requests); n > 10_000 {
		s.state.requests = slices.Delete(s.state.requests, 0, n-10_000)
	}
	s.mu.Unlock()
	for _, route := range routes {
		m := route.form.FindStringSubmatch(path)
		if m == nil {
			continue
		}
		x := &exchange{s: s, w: w, r: r, body: body}
		if route.form == routeTask {
			x.task(m)
			return
		}
		act := route.methods[r.Method]
		if act == nil {
			x.notAllowed(route.allow)
			return
		}
		x.decode(m[1:])
		act(x)
		return
	}
	(&exchange{w: w}).text(http.StatusNotFound, "404 Not Found")
}

// decode takes the escapes out of the parts of a path, once.
func (x *exchange) decode(parts []string) {
	for _, p := range parts {
		plain, err := url.PathUnescape(p)
		if err != nil {
			x.s.crash(x.r.Context())
		}
		x.part = append(x.part, plain)
	}
}

// text answers with a plain text.
func (x *exchange) text(status int, text string) {
	x.w.WriteHeader(status)
	_, _ = io.WriteString(x.w, text)
}

// notAllowed answers a wrong method.
func (x *exchange) notAllowed(allow string) {
	x.w.Header().Set("Allow", allow)
	x.text(http.StatusMethodNotAllowed, "405 Method Not Allowed")
}

// syntax answers JSON that cannot be read.
func (x *exchange) syntax() { x.text(http.StatusBadRequest, "SyntaxError: Unexpected token in JSON") }

// object reads the body as a JSON object.
func (x *exchange) object() (map[string]any, bool) {
	var out map[string]any
	if json.Unmarshal(x.body, &out) != nil {
		x.syntax()
		return nil, false
	}
	if out == nil {
		x.s.crash(x.r.Context())
	}
	return out, true
}

// change runs do under the lock and answers 200.
func (x *exchange) change(do func(st *state)) {
	x.s.mu.Lock()
	do(&x.s.state)
	x.s.mu.Unlock()
	x.w.WriteHeader(http.StatusOK)
}

// putPreset replaces a preset.
func putPreset(x *exchange) {
	if p, ok := x.object(); ok {
		p["_id"] = x.part[0]
		x.change(func(st *state) { st.presets[x.part[0]] = p })
	}
}

// deletePreset takes a preset away.
func deletePreset(x *exchange) { x.change(func(st *state) { delete(st.presets, x.part[0]) }) }

// putObject replaces an object.
func putObject(x *exchange) {
	if o, ok := x.object(); ok {
		o["_id"] = x.part[0]
		x.change(func(st *state) { st.objects[x.part[0]] = o })
	}
}

// deleteObject takes an object away.
func deleteObject(x *exchange) { x.change(func(st *state) { delete(st.objects, x.part[0]) }) }

// compiles reads the body as a script; one with an error is answered.
func (x *exchange) compiles() bool {
	if _, err := compile(string(x.body)); err != nil {
		x.text(http.StatusBadRequest, "SyntaxError: "+strings.TrimPrefix(err.Error(), "SyntaxError: "))
		return false
	}
	return true
}

// putScript replaces a provision.
func putScript(x *exchange) {
	if x.compiles() {
		x.change(func(st *state) { st.provisions[x.part[0]] = string(x.body) })
	}
}

// deleteScript takes a provision away.
func deleteScript(x *exchange) { x.change(func(st *state) { delete(st.provisions, x.part[0]) }) }

// putVirtual replaces a virtual parameter; it is kept and never run.
func putVirtual(x *exchange) {
	if x.compiles() {
		x.change(func(st *state) { st.virtual[x.part[0]] = string(x.body) })
	}
}

// deleteVirtual takes a virtual parameter away.
func deleteVirtual(x *exchange) { x.change(func(st *state) { delete(st.virtual, x.part[0]) }) }

// addTag puts a tag on a device.
func addTag(x *exchange) { x.tag(true) }

// removeTag takes a tag from a device.
func removeTag(x *exchange) { x.tag(false) }

// tag changes the tags of a device, also of one in session.
func (x *exchange) tag(on bool) {
	x.s.mu.Lock()
	d := x.s.state.devices[x.part[0]]
	if d == nil || d.doc == nil {
		x.s.mu.Unlock()
		x.text(http.StatusNotFound, "No such device")
		return
	}
	doc := *d.doc
	doc.tags = slices.DeleteFunc(slices.Clone(doc.tags), func(t string) bool { return t == x.part[1] && !on })
	if on && !slices.Contains(doc.tags, x.part[1]) {
		doc.tags = append(doc.tags, x.part[1])
	}
	d.doc = &doc
	x.s.mu.Unlock()
	x.w.WriteHeader(http.StatusOK)
}

// locked answers 503 for a device in session.
func (x *exchange) locked(id string) bool {
	x.s.mu.Lock()
	d := x.s.state.devices[id]
	busy := d != nil && (d.busy || d.faults.Held)
	x.s.mu.Unlock()
	if busy {
		x.text(http.StatusServiceUnavailable, "Device is in session")
	}
	return busy
}

// deleteFault forgets a fault, and the task that it is of.
func deleteFault(x *exchange) {
	id := x.part[0]
	device, channel, _ := strings.Cut(id, ":")
	if x.locked(device) {
		return
	}
	number, is := strings.CutPrefix(channel, "task_")
	if is && !oidForm.MatchString(number) {
		x.s.crash(x.r.Context())
	}
	x.change(func(st *state) {
		delete(st.faults, id)
		if is {
			st.tasks = slices.DeleteFunc(st.tasks, func(t *task) bool { return string(t.id) == number })
		}
	})
}

// deleteDevice forgets a device, its tasks and faults. The box goes on: at its next inform it is new.
func deleteDevice(x *exchange) {
	id := x.part[0]
	if x.locked(id) {
		return
	}
	x.change(func(st *state) {
		if d := st.devices[id]; d != nil {
			d.doc = nil
			if d.gone {
				delete(st.devices, id)
			}
		}
		st.tasks = slices.DeleteFunc(st.tasks, func(t *task) bool { return t.device == id })
		maps.DeleteFunc(st.faults, func(_ string, f *fault) bool { return f.device == id })
	})
}

// pingHost answers as if a host had been pinged.
func pingHost(x *exchange) {
	x.w.Header().Set("Cache-Control", "no-cache")
	if strings.HasSuffix(x.part[0], ".invalid") {
		x.text(http.StatusNotFound, "Error: Command failed")
		return
	}
	x.w.Header().Set("Content-Type", "text/plain")
	x.text(http.StatusOK, "PING "+x.part[0]+"\n3 packets transmitted, 3 received, 0% packet loss\n")
}

// task serves /tasks/{id} and /tasks/{id}/retry.
func (x *exchange) task(m []string) {
	x.decode(m[1:2])
	methods := map[string]string{"": "DELETE", "/": "DELETE", "/retry": "POST"}
	method, known := methods[m[2]]
	switch {
	case !known:
		x.w.WriteHeader(http.StatusNotFound)
		return
	case x.r.Method != method:
		x.notAllowed(map[string]string{"DELETE": "PUT DELETE", "POST": "POST"}[method])
		return
	case !oidForm.MatchString(x.part[0]):
		x.s.crash(x.r.Context())
	}
	id := oid(strings.ToLower(x.part[0]))
	x.s.mu.Lock()
	at := slices.IndexFunc(x.s.state.tasks, func(t *task) bool { return t.id == id })
	device := ""
	if at >= 0 {
		device = x.s.state.tasks[at].device
	}
	x.s.mu.Unlock()
	switch {
	case at < 0 && method == "POST":
		x.s.crash(x.r.Context())
	case at < 0:
		x.text(http.StatusNotFound, "Task not found")
		return
	case x.locked(device):
		return
	}
	x.change(func(st *state) {
		delete(st.faults, device+":task_"+string(id))
		if method == "DELETE" {
			st.tasks = slices.DeleteFunc(st.tasks, func(t *task) bool { return t.id == id })
		}
	})
}

// reasoned answers with a reason phrase of its own, which net/http does not write: the connection is taken over.
func (x *exchange) reasoned(status int, reason string, contentType string, body []byte) {
	if x.s.Faults().StripReasons {
		reason = http.StatusText(status)
	}
	hijacker, ok := x.w.(http.Hijacker)
	if !ok {
		x.w.WriteHeader(status)
		_, _ = x.w.Write(body)
		return
	}
	conn, out, err := hijacker.Hijack()
	if err != nil {
		panic(aborted)
	}
	defer conn.Close()
	_ = conn.SetWriteDeadline(time.Now().Add(10 * time.Second))
	_, _ = fmt.Fprintf(out, "HTTP/1.1 %d %s\r\nGenieACS-Version: %s\r\n", status, reason, version)
	if contentType != "" {
		_, _ = fmt.Fprintf(out, "Content-Type: %s\r\n", contentType)
	}
	_, _ = fmt.Fprintf(out, "Content-Length: %d\r\nConnection: close\r\n\r\n", len(body))
	_, _ = out.Write(body)
	_ = out.Flush()
}
