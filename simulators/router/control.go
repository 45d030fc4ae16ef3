package router

import (
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"time"
)

// Summary is a router in the form of GET /sim/routers.
type Summary struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Tunnel      string            `json:"tunnel,omitempty"`
	Addresses   map[string]string `json:"addresses"` // host:port by service
	On          bool              `json:"on"`
	Writes      int               `json:"writes"`
	Connections int               `json:"connections"`
	Sessions    int               `json:"sessions"`
}

// Summary describes the router at this moment.
func (r *Router) Summary() Summary {
	s := Summary{Name: r.cfg.Name, Version: r.cfg.Version, Addresses: map[string]string{}, Connections: r.Connections()}
	if r.cfg.Tunnel.IsValid() {
		s.Tunnel = r.cfg.Tunnel.String()
	}
	for service, l := range r.door.listeners {
		s.Addresses[service] = l.Addr().String()
	}
	r.lock()
	defer r.unlock()
	s.On, s.Writes = !r.off, int(r.writes)
	s.Sessions = len(r.tableOf("ppp/active").rows) + len(r.tableOf("ip/hotspot/active").rows)
	return s
}

// controls serves the paths that control the simulator, on a listener without faults. {name} is a router's.
func (s *Simulator) controls() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sim/routers", func(w http.ResponseWriter, _ *http.Request) {
		list := []Summary{}
		for _, r := range s.routers {
			list = append(list, r.Summary())
		}
		answer(w, http.StatusOK, list)
	})
	mux.HandleFunc("GET /sim/routers/{name}/config",
		control(s, func(r *Router, req *http.Request, _ struct{}) (any, error) {
			return r.Snapshot(req.URL.Query().Get("dynamic") == "true"), nil
		}))
	mux.HandleFunc("GET /sim/routers/{name}/log",
		control(s, func(r *Router, _ *http.Request, _ struct{}) (any, error) { return r.Log(), nil }))
	mux.HandleFunc("GET /sim/routers/{name}/faults",
		control(s, func(r *Router, _ *http.Request, _ struct{}) (any, error) { return r.Faults(), nil }))
	mux.HandleFunc("PUT /sim/routers/{name}/faults",
		control(s, func(r *Router, _ *http.Request, f Faults) (any, error) {
			r.SetFaults(f)
			return f, nil
		}))
	mux.HandleFunc("POST /sim/routers/{name}/edit", control(s, func(r *Router, _ *http.Request, e Edit) (any, error) {
		return r.Do(e.Menu, e.Command, e.Args)
	}))
	mux.HandleFunc("PUT /sim/routers/{name}/sessions/{user}",
		control(s, func(r *Router, req *http.Request, session Session) (any, error) {
			session.User = req.PathValue("user")
			id, err := r.Connect(session)
			return map[string]string{"id": id}, err
		}))
	mux.HandleFunc("DELETE /sim/routers/{name}/sessions/{user}",
		control(s, func(r *Router, req *http.Request, _ struct{}) (any, error) {
			return map[string]int{"ended": r.Disconnect(req.PathValue("user"))}, nil
		}))
	mux.HandleFunc("PUT /sim/routers/{name}/leases/{address}",
		control(s, func(r *Router, req *http.Request, l Lease) (any, error) {
			l.Address = req.PathValue("address")
			return l, r.Lease(l)
		}))
	mux.HandleFunc("POST /sim/routers/{name}/script", control(s, func(r *Router, _ *http.Request, body struct {
		Text  string `json:"text"`
		Paste bool   `json:"paste"`
	}) (any, error) {
		if !body.Paste {
			out, err := r.Script(body.Text)
			return map[string]any{"output": out}, err
		}
		out, faults := r.Paste(body.Text)
		texts := []string{}
		for _, f := range faults {
			texts = append(texts, f.Error())
		}
		return map[string]any{"output": out, "faults": texts}, nil
	}))
	mux.HandleFunc("POST /sim/routers/{name}/paste", s.paste)
	s.controlHardware(mux)
	s.controlCustomers(mux)
	return mux
}

// controlHardware adds the paths for a person at the router: power, cables, traffic.
func (s *Simulator) controlHardware(mux *http.ServeMux) {
	mux.HandleFunc("POST /sim/routers/{name}/reboot",
		control(s, func(r *Router, _ *http.Request, _ struct{}) (any, error) {
			r.Reboot()
			return r.Summary(), nil
		}))
	mux.HandleFunc("PUT /sim/routers/{name}/power", control(s, func(r *Router, _ *http.Request, body struct {
		On bool `json:"on"`
	}) (any, error) {
		r.SetPower(body.On)
		return r.Summary(), nil
	}))
	mux.HandleFunc("POST /sim/routers/{name}/clock", control(s, func(r *Router, _ *http.Request, body struct {
		Seconds int64 `json:"seconds"` // added to the router's clock; negative = back
	}) (any, error) {
		r.StepClock(time.Duration(body.Seconds) * time.Second)
		return body, nil
	}))
	mux.HandleFunc("PUT /sim/routers/{name}/links/{interface}",
		control(s, func(r *Router, req *http.Request, body struct {
			Up bool `json:"up"`
		}) (any, error) {
			r.SetLink(req.PathValue("interface"), body.Up)
			return body, nil
		}))
	mux.HandleFunc("PUT /sim/routers/{name}/traffic/{interface}",
		control(s, func(r *Router, req *http.Request, body struct {
			RxBytes uint64 `json:"rxBytes"` // added to the counters
			TxBytes uint64 `json:"txBytes"`
			RxRate  uint64 `json:"rxRate"` // bytes a second from now on
			TxRate  uint64 `json:"txRate"`
		}) (any, error) {
			return body, r.AddTraffic(req.PathValue("interface"), body.RxBytes, body.TxBytes, body.RxRate, body.TxRate)
		}))
	mux.HandleFunc("PUT /sim/routers/{name}/seen-from", control(s, func(r *Router, _ *http.Request, body struct {
		Address netip.Addr `json:"address"`
	}) (any, error) {
		r.SetSeenFrom(body.Address)
		return body, nil
	}))
}

// paste runs a script that is the body itself, as if pasted into the terminal: for curl --data-binary.
func (s *Simulator) paste(w http.ResponseWriter, req *http.Request) {
	r := s.byName[req.PathValue("name")]
	if r == nil {
		answer(w, http.StatusNotFound, map[string]string{"error": "there is no such router"})
		return
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxRequest))
	if err != nil {
		answer(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	out, faults := r.Paste(string(text))
	texts := []string{}
	for _, f := range faults {
		texts = append(texts, f.Error())
	}
	answer(w, http.StatusOK, map[string]any{"output": out, "faults": texts})
}

// control finds the router, reads a JSON body if there is one, calls act and answers. An error of act is answered 400.
func control[T any](s *Simulator, act func(*Router, *http.Request, T) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		r := s.byName[req.PathValue("name")]
		if r == nil {
			answer(w, http.StatusNotFound, map[string]string{"error": "there is no such router"})
			return
		}
		var body T
		var err error
		if req.ContentLength != 0 {
			decoder := json.NewDecoder(http.MaxBytesReader(w, req.Body, maxRequest))
			decoder.DisallowUnknownFields()
			err = decoder.Decode(&body)
		}
		var result any
		if err == nil {
			result, err = act(r, req, body)
		}
		if err != nil {
			answer(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
			return
		}
		answer(w, http.StatusOK, result)
	}
}

// answer writes a JSON body and ignores write errors: the caller has gone then.
func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
