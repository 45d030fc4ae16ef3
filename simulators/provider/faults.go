package provider

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Faults sets how the provider misbehaves. PUT /sim/faults replaces them all: a missing field gets its default.
// Probabilities are 0 to 1.
type Faults struct {
	// DuplicateCallbacks is the number of additional copies of each callback, all sent at once.
	DuplicateCallbacks int `json:"duplicateCallbacks"`
	// DropCallbacks is the probability that a callback is never sent.
	DropCallbacks float64 `json:"dropCallbacks"`
	// CallbackBeforeResponse delivers the payer's verdict before the answer to the prompt, without any delay.
	CallbackBeforeResponse bool `json:"callbackBeforeResponse"`
	// ReorderCallbacks holds callbacks for Config.ReorderHold and sends them in reverse.
	ReorderCallbacks bool `json:"reorderCallbacks"`
	// ErrorRate is the probability of a 503 without a provider body; the request is not executed then.
	ErrorRate float64 `json:"errorRate"`
	// LatencyMs delays every answer.
	LatencyMs int `json:"latencyMs"`
	// InvalidateTokens makes all present tokens invalid, once.
	InvalidateTokens bool `json:"invalidateTokens"`
	// LateResponseMs delays the answer to a prompt that was accepted: the handset is asked at once, and a caller that
	// does not wait so long never learns the prompt's id.
	LateResponseMs int `json:"lateResponseMs"`
	// LateCallbacksMs sends each callback that much after its verdict; a status query tells the verdict at once.
	LateCallbacksMs int `json:"lateCallbacksMs"`
	// LoseResponse is the probability that the connection drops after a prompt was accepted, before the answer.
	LoseResponse float64 `json:"loseResponse"`
	// LoseRegistration is the probability that the connection drops after a registration of addresses, before the
	// answer.
	LoseRegistration float64 `json:"loseRegistration"`
	// PlainRegistered answers a second registration in the older form: 200 with a description and no code.
	PlainRegistered bool `json:"plainRegistered"`
	// LoseReversal is the probability that the connection drops after a reversal was taken, before the answer.
	LoseReversal float64 `json:"loseReversal"`
	// TimeOutReversals posts to the address of time-outs that a reversal was not come to in time; its result follows.
	TimeOutReversals bool `json:"timeOutReversals"`
	// RefuseReversals makes each reversal fail with its result.
	RefuseReversals bool `json:"refuseReversals"`
	// Down drops every connection without an answer; requests are not executed.
	Down bool `json:"down"`
	// TakeHalfOfBatch has the bill manager take the first half of each batch of bills, and drop the connection.
	TakeHalfOfBatch bool `json:"takeHalfOfBatch"`
	// LoseBills is the number of calls with bills that are taken whole, and whose connection is dropped then.
	LoseBills int `json:"loseBills"`
	// LateBillsMs delays the answers of the bill manager after it has acted.
	LateBillsMs int `json:"lateBillsMs"`
	// TakeBillsLateMs drops the connection of each call with bills, and takes them that long afterwards.
	TakeBillsLateMs int `json:"takeBillsLateMs"`
	// BillRescode refuses each call with bills in an answer of HTTP 200 with this code; "" refuses none.
	BillRescode string `json:"billRescode"`
	// RefuseBillOf refuses each call that has a bill with this account reference; "" refuses none.
	RefuseBillOf string `json:"refuseBillOf"`
	// CancelConflict answers each cancellation of a bill that it was cancelled before, with HTTP 409; it is then.
	CancelConflict bool `json:"cancelConflict"`
	// RefuseOptIn has the bill manager refuse each opt-in.
	RefuseOptIn bool `json:"refuseOptIn"`
	// WrongAppKey accepts no key of an opt-in.
	WrongAppKey bool `json:"wrongAppKey"`
	// C2BAlso sends a C2B confirmation for a paid prompt too, where addresses are registered. On by default.
	C2BAlso bool `json:"c2bAlso"`
	// MaskMSISDN hides digits of the payer's phone in C2B callbacks.
	MaskMSISDN bool `json:"maskMsisdn"`
}

// defaultFaults is a provider that works well: only C2BAlso is set.
func defaultFaults() Faults { return Faults{C2BAlso: true} }

// SetFaults replaces all faults; a value out of range is an error.
func (s *Simulator) SetFaults(f Faults) error {
	for name, p := range map[string]float64{
		"dropCallbacks": f.DropCallbacks, "errorRate": f.ErrorRate, "loseResponse": f.LoseResponse,
		"loseRegistration": f.LoseRegistration, "loseReversal": f.LoseReversal,
	} {
		if p < 0 || p > 1 {
			return fmt.Errorf("%s must be from 0 to 1", name)
		}
	}
	if f.DuplicateCallbacks < 0 || f.DuplicateCallbacks > 100 || f.LatencyMs < 0 || f.LateResponseMs < 0 ||
		f.LateCallbacksMs < 0 || f.LoseBills < 0 || f.LateBillsMs < 0 ||
		f.TakeBillsLateMs < 0 {
		return fmt.Errorf("duplicateCallbacks must be from 0 to 100, and no time may be negative")
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

// faulty applies Down, LatencyMs and ErrorRate in front of a provider path.
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
