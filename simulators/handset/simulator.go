package handset

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
)

// Simulator is a NAS that is driven over HTTP. Safe for concurrent use. Start it once and Stop it once.
type Simulator struct {
	*NAS

	addr   string
	server *http.Server
	url    string
	closed chan struct{} // when the HTTP server has ended
}

// NewSimulator makes a NAS with paths to drive it at an address, which is a free loopback port when empty.
func NewSimulator(cfg Config, addr string) (*Simulator, error) {
	n, err := New(cfg)
	if err != nil {
		return nil, err
	}
	s := &Simulator{NAS: n, addr: cmp.Or(addr, "127.0.0.1:0"), closed: make(chan struct{})}
	s.server = &http.Server{
		Handler: n.Controls(), ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(n.cfg.Logger.Handler(), slog.LevelDebug),
	}
	return s, nil
}

// Start opens the sockets of the NAS and listens. When it fails, nothing is open.
func (s *Simulator) Start(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.addr)
	if err != nil {
		return fmt.Errorf("listen as handset control: %w", err)
	}
	if err := s.NAS.Start(ctx); err != nil {
		return errors.Join(err, listener.Close())
	}
	s.url = "http://" + listener.Addr().String()
	go func() {
		defer close(s.closed)
		_ = s.server.Serve(listener)
	}()
	return nil
}

// URL gives the base address of the paths; empty before Start.
func (s *Simulator) URL() string { return s.url }

// Stop closes everything; sessions are dropped without stops.
func (s *Simulator) Stop() {
	s.NAS.Stop()
	if s.url != "" {
		_ = s.server.Close()
		<-s.closed
	}
}

// Controls serves the paths that drive the NAS, below /sim/handsets.
func (n *NAS) Controls() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sim/handsets/sessions", func(w http.ResponseWriter, r *http.Request) {
		list, user := n.Sessions(), r.URL.Query().Get("user")
		shown := list[:0]
		for _, s := range list {
			if user == "" || s.User == user {
				shown = append(shown, s)
			}
		}
		answer(w, http.StatusOK, shown)
	})
	mux.HandleFunc("POST /sim/handsets/sessions", control(func(r *http.Request, c Customer) (any, error) {
		return n.SignIn(r.Context(), c)
	}))
	mux.HandleFunc("DELETE /sim/handsets/sessions/{id}", func(w http.ResponseWriter, r *http.Request) {
		if !n.SignOut(r.PathValue("id"), UserRequest) {
			answer(w, http.StatusNotFound, map[string]string{"error": "this session is not online"})
			return
		}
		answer(w, http.StatusOK, struct{}{})
	})
	mux.HandleFunc("DELETE /sim/handsets/sessions", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]int{"ended": n.SignOutAll(UserRequest)})
	})
	mux.HandleFunc("POST /sim/handsets/power-cut", control(n.cutPower))
	mux.HandleFunc("GET /sim/handsets/faults", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, n.Faults())
	})
	mux.HandleFunc("PUT /sim/handsets/faults", control(func(_ *http.Request, f Faults) (any, error) {
		return f, n.SetFaults(f)
	}))
	mux.HandleFunc("GET /sim/handsets/statistics", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, n.Statistics())
	})
	mux.HandleFunc("GET /sim/handsets/idle", func(w http.ResponseWriter, r *http.Request) {
		if err := n.Idle(r.Context()); err == nil {
			answer(w, http.StatusOK, struct{}{})
		}
	})
	mux.HandleFunc("POST /sim/handsets/clock", control(n.moveClock))
	return mux
}

// powerCut is the body of POST /sim/handsets/power-cut.
type powerCut struct {
	SignIn    bool `json:"signIn"`    // all who were online sign in again
	PerSecond int  `json:"perSecond"` // 0 = as fast as it can
}

// cutPower ends all sessions without stops, and answers when those who come back have their results.
func (n *NAS) cutPower(r *http.Request, body powerCut) (any, error) {
	gone := n.PowerCut()
	count := map[Outcome]int{}
	if body.SignIn {
		err := n.SignInAll(r.Context(), gone, Pace{PerSecond: body.PerSecond}, func(_ Customer, r Result) {
			count[r.Outcome]++
		})
		if err != nil {
			return nil, err
		}
	}
	return map[string]any{"cut": len(gone), "signedIn": count}, nil
}

// clockMove is the body of POST /sim/handsets/clock.
type clockMove struct {
	AdvanceSeconds int64 `json:"advanceSeconds"`
}

// moveClock moves the clock of the NAS forward, when it is one that can be moved.
func (n *NAS) moveClock(_ *http.Request, body clockMove) (any, error) {
	movable, ok := n.clock.(*clock.Movable)
	if !ok || body.AdvanceSeconds <= 0 {
		return nil, errors.New("this clock cannot be moved, or not by this much")
	}
	movable.Advance(time.Duration(body.AdvanceSeconds) * time.Second)
	return map[string]time.Time{"now": n.clock.Now()}, nil
}

// control reads a JSON body, calls act and answers with its result. An error is answered 400.
func control[T any](act func(*http.Request, T) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body T
		decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
		decoder.DisallowUnknownFields()
		err := decoder.Decode(&body)
		var result any
		if err == nil {
			result, err = act(r, body)
		}
		if err != nil {
			answer(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
			return
		}
		answer(w, http.StatusOK, result)
	}
}

// answer writes a JSON body. A write error means that the caller has gone, and is ignored.
func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
