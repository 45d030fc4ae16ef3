package router

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// webFig is the page that www sends to a browser, and to REST calls in releases without REST.
const webFig = "<!DOCTYPE html><html><head><title>RouterOS</title></head><body>WebFig</body></html>"

// badIdentifier refuses a missing or wrong id in a path.
const badIdentifier = "missing or invalid resource identifier"

// maxRequest bounds a request, in bytes.
const maxRequest = 1 << 20

// exchange is one REST request while it is answered.
type exchange struct {
	r       *Router
	ctx     context.Context //nolint:containedctx // lives as long as the request
	w       http.ResponseWriter
	who     *caller
	service string // www or www-ssl
}

// rest serves www or www-ssl. 7.x has REST on www-ssl, and from 7.9 on www, too.
func (r *Router) rest(service string) http.Handler {
	secure := service == serviceWWWSSL
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		path, isREST := strings.CutPrefix(strings.SplitN(req.RequestURI, "?", 2)[0], "/rest")
		if since := v7PlainREST; !isREST || r.version < v7 || r.version < since && !secure {
			w.Header().Set("Content-Type", "text/html")
			if isREST && r.version < v7 {
				w.WriteHeader(http.StatusNotFound)
			}
			_, _ = io.WriteString(w, webFig)
			return
		}
		name, password, _ := req.BasicAuth()
		who := r.authenticate(name, password, "rest-api")
		x := &exchange{r: r, ctx: req.Context(), w: w, who: who, service: service}
		if who == nil {
			w.Header().Set("WWW-Authenticate", `Basic realm="RouterOS"`)
			x.fail(http.StatusUnauthorized, "")
			return
		}
		if req.Method == http.MethodHead {
			w.WriteHeader(http.StatusNotImplemented)
			return
		}
		x.route(req, strings.Trim(path, "/"))
	})
}

// fail answers with the router's error form; detail may be empty.
func (x *exchange) fail(status int, detail string) {
	body := map[string]any{"error": status, "message": http.StatusText(status)}
	if detail != "" {
		body["detail"] = detail
	}
	x.w.Header().Set("Content-Type", "application/json")
	x.w.WriteHeader(status)
	_ = json.NewEncoder(x.w).Encode(body)
}

// refuse answers with the status and text of a trap.
func (x *exchange) refuse(t *Trap) {
	if t.Status == http.StatusNotFound {
		x.fail(t.Status, "")
		return
	}
	x.fail(t.Status, t.Message)
}

// do runs a command; false when the refusal is already sent. A lost answer aborts the connection.
func (x *exchange) do(c call) (reply, bool) {
	c.who, c.service = x.who, x.service
	out, trap, answered := x.r.handle(x.ctx, c)
	if !answered {
		panic(http.ErrAbortHandler)
	}
	if trap != nil {
		x.refuse(trap)
		return reply{}, false
	}
	return out, true
}

// route finds menu and item by the path, and the command by the method.
func (x *exchange) route(req *http.Request, path string) {
	parent, last := "", path
	if at := strings.LastIndex(path, "/"); at >= 0 {
		parent, last = path[:at], path[at+1:]
	}
	if req.Method == http.MethodPost {
		x.post(req, parent, last)
		return
	}
	m, word := x.r.menus[path], ""
	if m == nil {
		if m, word = x.r.menus[parent], last; m == nil || word == "" {
			x.fail(http.StatusBadRequest, "no such command or directory ("+last+")")
			return
		}
		if !x.identified(m, word, req.Method) {
			return
		}
	}
	switch req.Method {
	case http.MethodGet:
		x.get(req, m, word)
	case http.MethodPut:
		x.put(req, m, word)
	case http.MethodPatch, http.MethodDelete:
		x.change(req, m, word)
	default:
		x.fail(http.StatusNotAcceptable, "no such command or directory ("+strings.ToLower(req.Method)+")")
	}
}

// identified checks the last part of a path as an id or a name; false when the refusal is already sent.
func (x *exchange) identified(m *menu, word, method string) bool {
	_, isID := parseID(word)
	switch {
	case strings.Contains(word, "%") || strings.HasPrefix(word, "*") && !isID,
		isID && method != http.MethodGet && x.r.Faults().RefuseIDs:
		x.fail(http.StatusBadRequest, badIdentifier)
	case !isID && !m.named:
		x.fail(http.StatusBadRequest, "no such command prefix")
	default:
		return true
	}
	return false
}

// get answers with a list, or with one item for an id and for a menu of one item.
func (x *exchange) get(req *http.Request, m *menu, word string) {
	c := call{menu: m.path, command: "print", args: Item{}}
	if word != "" {
		c.args[".id"] = word
	}
	values, err := url.ParseQuery(req.URL.RawQuery)
	if err != nil {
		x.fail(http.StatusBadRequest, "invalid query")
		return
	}
	for name, list := range values {
		if name == ".proplist" {
			c.proplist = splitList(list[0])
			continue
		}
		c.query = append(c.query, name+"="+list[0])
	}
	out, ok := x.do(c)
	if !ok {
		return
	}
	if word != "" || m.single {
		x.object(http.StatusOK, out.rows)
		return
	}
	x.list(out.rows)
}

// put adds one item and answers with it.
func (x *exchange) put(req *http.Request, m *menu, word string) {
	c, ok := x.body(req)
	if !ok {
		return
	}
	if word != "" || !m.has("add") {
		x.fail(http.StatusBadRequest, "no such command")
		return
	}
	c.menu, c.command = m.path, "add"
	out, ok := x.do(c)
	if ok {
		x.show(http.StatusCreated, m, out.row)
	}
}

// show answers with one item in its present state.
func (x *exchange) show(status int, m *menu, w *row) {
	x.r.lock()
	item := x.r.shown(m, w, x.who)
	x.r.unlock()
	x.object(status, []Item{item})
}

// change sets or removes one item.
func (x *exchange) change(req *http.Request, m *menu, word string) {
	c := call{args: Item{}}
	if req.Method == http.MethodPatch {
		var ok bool
		if c, ok = x.body(req); !ok {
			return
		}
	}
	if word == "" {
		x.fail(http.StatusBadRequest, badIdentifier)
		return
	}
	c.menu, c.command = m.path, "set"
	if req.Method == http.MethodDelete {
		c.command = "remove"
	}
	c.args[".id"] = word
	out, ok := x.do(c)
	switch {
	case !ok:
	case c.command == "remove":
		x.w.WriteHeader(http.StatusNoContent)
	default:
		x.show(http.StatusOK, m, out.row)
	}
}

// post runs a console command that the path names.
func (x *exchange) post(req *http.Request, path, command string) {
	c, ok := x.body(req)
	if !ok {
		return
	}
	if path == "" && command == "execute" {
		x.execute(c)
		return
	}
	m := x.r.menus[path]
	if m == nil {
		x.fail(http.StatusBadRequest, "no such command or directory ("+path[strings.LastIndex(path, "/")+1:]+")")
		return
	}
	c.menu, c.command = path, command
	if !x.r.endless(x.ctx, c) {
		x.fail(http.StatusBadRequest, "Session closed")
		return
	}
	out, ok := x.do(c)
	switch {
	case !ok:
	case out.ret != nil:
		x.object(http.StatusOK, []Item{{"ret": *out.ret}})
	default:
		x.list(out.rows)
	}
}

// execute runs a script for a user with the policies write and policy.
func (x *exchange) execute(c call) {
	if !x.who.may("write") || !x.who.may("policy") {
		x.refuse(noPermission())
		return
	}
	m := &machine{r: x.r, who: x.who, globals: map[string]any{}}
	err := m.text(c.args["script"])
	out := m.out.String()
	if err != nil {
		out += err.Error()
	}
	if _, ok := c.args["as-string"]; !ok {
		out = "*1"
	}
	x.object(http.StatusOK, []Item{{"ret": out}})
}
