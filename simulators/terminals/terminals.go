// Package terminals simulates the system of an operator's optical line terminals on a real socket
// (docs/facts/olt.md#protocol): ports and VLANs, ONUs on their fibres, registrations that a repeated call leaves as
// they are, and faults by name. What is registered is always readable at GET /sim/onus, whichever answers were lost.
// Methods and HTTP paths control it (docs/rules/setup.md#olt-simulator).
package terminals

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Config of a simulator; the zero value is usable.
type Config struct {
	Addr   string // listen address; a free loopback port when empty
	Token  string // the only one that is accepted; "" accepts any
	Clock  clock.Clock
	Logger *slog.Logger // silent when nil
}

// Steps that can be refused.
const (
	StepRegister = "register"
	StepVLAN     = "vlan"
	StepRead     = "read"
	StepRemove   = "remove"
)

// Faults sets how the system misbehaves. PUT /sim/faults replaces them all.
type Faults struct {
	// Down drops every connection without an answer; nothing is done.
	Down bool `json:"down"`
	// LatencyMs delays every answer.
	LatencyMs int `json:"latencyMs"`
	// Unreachable has the terminals, as organization/name, that the system does not reach: it says so.
	Unreachable []string `json:"unreachable"`
	// Hung has those at which the system breaks off without an answer, as a dead one may let it.
	Hung []string `json:"hung"`
	// LoseAnswers is how many of the next calls are done while the connection drops before the answer.
	LoseAnswers int `json:"loseAnswers"`
	// Garble is how many of the next calls are done while the answer is nonsense.
	Garble int `json:"garble"`
	// Refuse refuses one step with a code, by the step's name.
	Refuse map[string]string `json:"refuse"`
}

// Terminal is one OLT of an organization.
type Terminal struct {
	Organization string   `json:"organization"` // its slug
	Name         string   `json:"name"`
	Ports        []string `json:"ports"`
	VLANs        []int    `json:"vlans"` // those that it carries
	// Seen are the serials on the fibre of each port; an ONU elsewhere cannot be registered.
	Seen map[string][]string `json:"seen"`
}

// ONU is one that is registered. Calls is how often something was asked of it.
type ONU struct {
	Organization string `json:"organization"`
	OLT          string `json:"olt"`
	Port         string `json:"port"`
	Serial       string `json:"serial"`
	Number       int    `json:"onuId"`
	VLAN         int    `json:"vlan,omitempty"`
	Calls        int    `json:"calls"`
}

// maxPerPort is how many ONUs one port serves.
const maxPerPort = 128

// Simulator is the system. Safe for concurrent use. Start it once and Stop it once.
type Simulator struct {
	cfg    Config
	log    *slog.Logger
	server *http.Server
	url    string
	work   sync.WaitGroup
	run    context.Context // ends at Stop; it bounds the delays
	halt   context.CancelFunc

	mu        sync.Mutex
	faults    Faults
	terminals []Terminal
	onus      []ONU
}

// New makes a simulator without terminals; it listens after Start.
func New(cfg Config) *Simulator {
	cfg.Addr = cmp.Or(cfg.Addr, "127.0.0.1:0")
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Simulator{cfg: cfg, log: cfg.Logger}
	s.server = &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelDebug),
	}
	return s
}

// Start listens and serves until Stop.
func (s *Simulator) Start(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.cfg.Addr)
	if err != nil {
		return fmt.Errorf("listen as optical line terminals: %w", err)
	}
	s.run, s.halt = context.WithCancel(ctx)
	s.url = "http://" + listener.Addr().String()
	s.work.Go(func() {
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("OLT simulator stopped serving", "error", err)
		}
	})
	s.log.Info("OLT simulator listens", "url", s.url)
	return nil
}

// URL gives the address for OLT_URL; empty before Start.
func (s *Simulator) URL() string { return s.url }

// Stop closes the listener and ends delays. What is registered can still be read.
func (s *Simulator) Stop(ctx context.Context) error {
	if s.halt == nil {
		return nil
	}
	s.halt()
	err := s.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.server.Close())
	}
	s.work.Wait()
	return err
}

// SetFaults replaces all faults; a negative number is an error.
func (s *Simulator) SetFaults(f Faults) error {
	if f.LatencyMs < 0 || f.LoseAnswers < 0 || f.Garble < 0 {
		return errors.New("no number may be negative")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = f
	return nil
}

// Faults gives the present faults.
func (s *Simulator) Faults() Faults {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults
}

// Put adds a terminal, or replaces the one of that name.
func (s *Simulator) Put(t Terminal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.terminals = slices.DeleteFunc(s.terminals, func(old Terminal) bool {
		return old.Organization == t.Organization && old.Name == t.Name
	})
	s.terminals = append(s.terminals, t)
}

// Register puts an ONU on its port without being asked, as one that was there before. One that is there stays.
func (s *Simulator) Register(o ONU) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.anywhere(o.Serial) {
		s.onus = append(s.onus, o)
	}
}

// ONUs gives what is registered, the first one first.
func (s *Simulator) ONUs() []ONU {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]ONU{}, s.onus...)
}

// handler serves the system's paths, and the control paths, which no fault touches.
func (s *Simulator) handler() http.Handler {
	const onu = "/organizations/{org}/olts/{olt}/onus/{serial}"
	mux := http.NewServeMux()
	mux.HandleFunc("PUT "+onu, s.faulty(StepRegister, s.register))
	mux.HandleFunc("PUT "+onu+"/service", s.faulty(StepVLAN, s.setVLAN))
	mux.HandleFunc("GET "+onu, s.faulty(StepRead, s.read))
	mux.HandleFunc("DELETE "+onu, s.faulty(StepRemove, s.remove))
	mux.HandleFunc("GET /sim/onus", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, s.ONUs()) })
	mux.HandleFunc("GET /sim/faults", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, s.Faults())
	})
	mux.HandleFunc("PUT /sim/faults", func(w http.ResponseWriter, r *http.Request) {
		var f Faults
		if err := decode(w, r, &f); err != nil {
			return
		}
		if err := s.SetFaults(f); err != nil {
			answer(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
			return
		}
		answer(w, http.StatusOK, f)
	})
	mux.HandleFunc("PUT /sim/terminals", func(w http.ResponseWriter, r *http.Request) {
		var t Terminal
		if err := decode(w, r, &t); err != nil {
			return
		}
		s.Put(t)
		answer(w, http.StatusOK, t)
	})
	return mux
}

// decode reads a control body, and answers 400 when it is none.
func decode(w http.ResponseWriter, r *http.Request, into any) error {
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if err != nil {
		answer(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
	}
	return err
}

// faulty applies the faults and the check of the token around a step. A lost answer is lost after the step was done.
func (s *Simulator) faulty(step string, do func(*http.Request) (int, any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f, terminal := s.Faults(), r.PathValue("org")+"/"+r.PathValue("olt")
		if f.Down || slices.Contains(f.Hung, terminal) {
			panic(http.ErrAbortHandler) // drops the connection
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.run, cancel)()
		if !loop.Sleep(ctx, time.Duration(f.LatencyMs)*time.Millisecond) {
			return
		}
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch {
		case token == "" || s.cfg.Token != "" && token != s.cfg.Token:
			answer(w, http.StatusUnauthorized, refusal{"token_unknown", "Unknown token"})
			return
		case slices.Contains(f.Unreachable, terminal):
			answer(w, http.StatusServiceUnavailable, unreachable)
			return
		case f.Refuse[step] != "":
			answer(w, http.StatusUnprocessableEntity, refusal{f.Refuse[step], "Refused as was asked for"})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
		status, body := do(r)
		switch s.spoiled() {
		case "lose":
			panic(http.ErrAbortHandler)
		case "garble":
			_, _ = w.Write([]byte("<html>Bad gateway</html>"))
		default:
			answer(w, status, body)
		}
	}
}

// spoiled takes one of the answers that are to be lost or garbled; "" for none.
func (s *Simulator) spoiled() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.faults.LoseAnswers > 0:
		s.faults.LoseAnswers--
		return "lose"
	case s.faults.Garble > 0:
		s.faults.Garble--
		return "garble"
	}
	return ""
}

// answer writes a JSON body, none with nil. A write error means that the caller has gone, and is ignored.
func answer(w http.ResponseWriter, status int, body any) {
	if body == nil {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
