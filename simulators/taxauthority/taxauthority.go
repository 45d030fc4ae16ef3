// Package taxauthority simulates a tax authority's electronic gateway on a real socket
// (docs/facts/tax-gateway.md#protocol): it checks documents, signs each once by its id, and misbehaves on request. What
// it has signed is always readable at GET /sim/documents, whichever answers were lost, so that a test can compare it
// with the invoices. Methods and HTTP paths control it (docs/rules/setup.md#tax-simulator).
package taxauthority

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Config of a simulator; the zero value is usable.
type Config struct {
	Addr   string // listen address; a free loopback port when empty
	Secret string // the only one that is accepted; "" accepts any
	Clock  clock.Clock
	Logger *slog.Logger // silent when nil
}

// Faults sets how the gateway misbehaves. PUT /sim/faults replaces them all.
type Faults struct {
	// Down drops every connection without an answer; nothing is signed.
	Down bool `json:"down"`
	// LatencyMs delays every answer.
	LatencyMs int `json:"latencyMs"`
	// LoseAnswers is how many of the next documents are signed while the connection drops before the answer.
	LoseAnswers int `json:"loseAnswers"`
	// Garble is how many of the next documents are signed while the answer is nonsense.
	Garble int `json:"garble"`
	// RefuseCode refuses every document with this code; "" refuses those with a fault alone.
	RefuseCode string `json:"refuseCode"`
	// RefuseNumber refuses the document of this number, as if the authority had a rule of its own.
	RefuseNumber string `json:"refuseNumber"`
}

// Signed is a document that was signed, as GET /sim/documents shows it. Times is how often it was handed over.
type Signed struct {
	ID            string    `json:"id"`
	Kind          string    `json:"kind"`
	Number        string    `json:"number"`
	Original      string    `json:"originalControlNumber,omitempty"`
	Device        string    `json:"device"`
	Branch        string    `json:"branch"`
	SellerPIN     string    `json:"sellerPin"`
	BuyerPIN      string    `json:"buyerPin,omitempty"`
	Total         string    `json:"total"`
	ControlNumber string    `json:"controlNumber"`
	Verification  string    `json:"verification"`
	SignedAt      time.Time `json:"signedAt"`
	Times         int       `json:"times"`
}

// Simulator is the gateway. Safe for concurrent use. Start it once and Stop it once.
type Simulator struct {
	cfg    Config
	log    *slog.Logger
	server *http.Server
	url    string
	work   sync.WaitGroup
	run    context.Context // ends at Stop; it bounds the delays
	halt   context.CancelFunc

	mu      sync.Mutex
	faults  Faults
	signed  map[string]*Signed // by id
	order   []string           // ids as they were signed
	refused int
	calls   int // of documents handed over, refused ones too
}

// New makes a simulator that has signed nothing; it listens after Start.
func New(cfg Config) *Simulator {
	cfg.Addr = cmp.Or(cfg.Addr, "127.0.0.1:0")
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Simulator{cfg: cfg, log: cfg.Logger, signed: map[string]*Signed{}}
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
		return fmt.Errorf("listen as tax gateway: %w", err)
	}
	s.run, s.halt = context.WithCancel(ctx)
	s.url = "http://" + listener.Addr().String()
	s.work.Go(func() {
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("tax gateway simulator stopped serving", "error", err)
		}
	})
	s.log.Info("tax gateway simulator listens", "url", s.url)
	return nil
}

// URL gives the address for the settings of an organization; empty before Start.
func (s *Simulator) URL() string { return s.url }

// Stop closes the listener and ends delays. What was signed can still be read.
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

// Documents gives what was signed, the first one first.
func (s *Simulator) Documents() []Signed {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Signed, 0, len(s.order))
	for _, id := range s.order {
		list = append(list, *s.signed[id])
	}
	return list
}

// Calls is how many documents were handed over, those included that were refused or known.
func (s *Simulator) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// handler serves the gateway's paths, and the control paths, which no fault touches.
func (s *Simulator) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /documents", s.faulty(s.submit))
	mux.HandleFunc("GET /documents/{id}", s.faulty(s.find))
	mux.HandleFunc("GET /sim/documents", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, s.Documents())
	})
	mux.HandleFunc("GET /sim/faults", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, s.Faults())
	})
	mux.HandleFunc("PUT /sim/faults", func(w http.ResponseWriter, r *http.Request) {
		var f Faults
		decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
		decoder.DisallowUnknownFields()
		err := decoder.Decode(&f)
		if err == nil {
			err = s.SetFaults(f)
		}
		if err != nil {
			answer(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
			return
		}
		answer(w, http.StatusOK, f)
	})
	return mux
}

// faulty applies Down, LatencyMs and the check of the secret in front of a path of the gateway.
func (s *Simulator) faulty(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f := s.Faults()
		if f.Down {
			panic(http.ErrAbortHandler) // drops the connection
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.run, cancel)()
		if !loop.Sleep(ctx, time.Duration(f.LatencyMs)*time.Millisecond) {
			return
		}
		secret := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if secret == "" || s.cfg.Secret != "" && secret != s.cfg.Secret {
			answer(w, http.StatusUnauthorized, outcome{Code: "device_unknown", Message: "Unknown device or secret"})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
		handle(w, r)
	}
}

// answer writes a JSON body. A write error means that the caller has gone, and is ignored.
func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
