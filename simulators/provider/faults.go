package provider

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Faults are the provider's bad days. PUT /sim/faults replaces them all: a missing field is as on a good day.
// Probabilities are 0 to 1.
type Faults struct {
	// DuplicateCallbacks is how many times more each callback is sent, all at once.
	DuplicateCallbacks int `json:"duplicateCallbacks"`
	// DropCallbacks is the probability that a callback is never sent.
	DropCallbacks float64 `json:"dropCallbacks"`
	// CallbackBeforeResponse delivers the payer's verdict before the answer to the prompt, without any delay.
	CallbackBeforeResponse bool `json:"callbackBeforeResponse"`
	// ReorderCallbacks holds callbacks for a moment and sends them in reverse.
	ReorderCallbacks bool `json:"reorderCallbacks"`
	// ErrorRate is the probability of a 503 without a provider body; nothing was done then.
	ErrorRate float64 `json:"errorRate"`
	// LatencyMs delays every answer.
	LatencyMs int `json:"latencyMs"`
	// InvalidateTokens makes all tokens issued so far invalid, once.
	InvalidateTokens bool `json:"invalidateTokens"`
	// LoseResponse is the probability that the connection drops after a prompt was accepted, before the answer.
	LoseResponse float64 `json:"loseResponse"`
	// Down drops every connection without an answer; nothing is done.
	Down bool `json:"down"`
	// C2BAlso sends a C2B confirmation for a paid prompt too, where addresses are registered. On by default.
	C2BAlso bool `json:"c2bAlso"`
	// MaskMSISDN hides digits of the payer's phone in C2B callbacks.
	MaskMSISDN bool `json:"maskMsisdn"`
}

// defaultFaults is a good day.
func defaultFaults() Faults { return Faults{C2BAlso: true} }

// SetFaults replaces the faults.
func (s *Simulator) SetFaults(f Faults) error {
	for name, p := range map[string]float64{
		"dropCallbacks": f.DropCallbacks, "errorRate": f.ErrorRate, "loseResponse": f.LoseResponse,
	} {
		if p < 0 || p > 1 {
			return fmt.Errorf("%s must be from 0 to 1", name)
		}
	}
	if f.DuplicateCallbacks < 0 || f.DuplicateCallbacks > 100 || f.LatencyMs < 0 {
		return fmt.Errorf("duplicateCallbacks must be from 0 to 100 and latencyMs not negative")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.InvalidateTokens {
		clear(s.book.tokens)
		f.InvalidateTokens = false
	}
	s.book.faults = f
	return nil
}

// faulty puts the faults of transport in front of a provider path.
func (s *Simulator) faulty(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		f := s.book.faults
		fails := s.book.happens(f.ErrorRate, fmt.Sprint("error ", s.book.next()))
		s.mu.Unlock()
		if f.Down {
			panic(http.ErrAbortHandler) // drops the connection
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.run, cancel)()
		if !loop.Sleep(ctx, time.Duration(f.LatencyMs)*time.Millisecond) {
			return
		}
		if fails {
			http.Error(w, "upstream connect error or disconnect/reset before headers", http.StatusServiceUnavailable)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
		handle(w, r)
	}
}
