package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/internal/money"
)

// Prompt is an accepted prompt, in the form of GET /sim/prompts.
type Prompt struct {
	CheckoutRequestID string    `json:"checkoutRequestId"`
	ShortCode         string    `json:"shortCode"`
	MSISDN            string    `json:"msisdn"`
	Amount            Amount    `json:"amount"`
	AccountReference  string    `json:"accountReference"`
	At                time.Time `json:"at"`
	Open              bool      `json:"open"`
	ResultCode        int       `json:"resultCode"` // meaningless while open
	ReceiptNumber     string    `json:"receiptNumber,omitempty"`
}

// routeControl adds the paths that drive the simulator. Faults do not touch them.
func (s *Simulator) routeControl(mux *http.ServeMux) {
	mux.HandleFunc("PUT /sim/phones/{msisdn}",
		control(Phone{Behaviour: pays}, func(r *http.Request, p Phone) (any, error) {
			return p, s.SetPhone(r.PathValue("msisdn"), p)
		}))
	mux.HandleFunc("PUT /sim/faults", control(defaultFaults(), func(_ *http.Request, f Faults) (any, error) {
		return f, s.SetFaults(f)
	}))
	mux.HandleFunc("GET /sim/faults", show(func() any { return s.Faults() }))
	mux.HandleFunc("PUT /sim/credentials", control(credentials{}, func(_ *http.Request, c credentials) (any, error) {
		return struct{}{}, s.AddCredentials(c.Key, c.Secret, c.ShortCode, c.Passkey)
	}))
	mux.HandleFunc("POST /sim/paybill", control(Paybill{}, func(r *http.Request, p Paybill) (any, error) {
		return s.Pay(r.Context(), p)
	}))
	mux.HandleFunc("DELETE /sim/urls/{shortCode}", func(w http.ResponseWriter, r *http.Request) {
		if !s.DeleteURLs(r.PathValue("shortCode")) {
			answer(w, http.StatusNotFound, map[string]string{"error": "this shortcode has no addresses"})
			return
		}
		answer(w, http.StatusOK, struct{}{})
	})
	mux.HandleFunc("GET /sim/transactions", show(func() any { return s.Transactions() }))
	mux.HandleFunc("GET /sim/prompts", show(func() any { return s.Prompts() }))
	mux.HandleFunc("GET /sim/callbacks", show(func() any { return s.Deliveries() }))
	mux.HandleFunc("POST /sim/callbacks/{id}/resend", s.resend)
	mux.HandleFunc("GET /sim/idle", func(w http.ResponseWriter, r *http.Request) {
		if err := s.Idle(r.Context()); err == nil {
			answer(w, http.StatusOK, struct{}{})
		}
	})
}

// control reads a JSON body over the initial value, calls act and answers with its result. An error is answered 400.
func control[T any](initial T, act func(*http.Request, T) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body := initial
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

// show answers with the present result of view.
func show(view func() any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, view()) }
}

// SetPhone sets how the owner of a phone answers prompts from now on; "default" is for every phone without an entry.
func (s *Simulator) SetPhone(msisdn string, p Phone) error {
	if err := p.valid(); err != nil {
		return err
	}
	if msisdn != defaultPhone {
		plain, err := plainMSISDN(msisdn)
		if err != nil {
			return err
		}
		msisdn = plain
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.book.phones[msisdn] = p
	return nil
}

// AddCredentials makes a set known. After the first call only known sets are accepted; an empty shortcode or passkey
// is not checked.
func (s *Simulator) AddCredentials(key, secret, shortCode, passkey string) error {
	if key == "" || secret == "" {
		return fmt.Errorf("key and secret are required")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.book.credentials[key] = credentials{Key: key, Secret: secret, ShortCode: shortCode, Passkey: passkey}
	delete(s.book.tokens, key)
	return nil
}

// Faults gives the present faults.
func (s *Simulator) Faults() Faults {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.book.faults
}

// Transactions gives the money that moved, oldest first.
func (s *Simulator) Transactions() []Transaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Transaction{}, s.book.transactions...)
}

// Balance gives the total that a shortcode has received.
func (s *Simulator) Balance(shortCode string) money.Amount {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.book.balances[shortCode]
}

// Registered reports whether callback addresses of a shortcode are registered.
func (s *Simulator) Registered(shortCode string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.book.urls[shortCode]
	return ok
}

// Prompts gives all accepted prompts, oldest first.
func (s *Simulator) Prompts() []Prompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Prompt, 0, len(s.book.promptOrder))
	for _, p := range s.book.promptOrder {
		list = append(list, Prompt{
			CheckoutRequestID: p.checkoutID, ShortCode: p.shortCode, MSISDN: p.msisdn, Amount: Amount{p.amount},
			AccountReference: p.reference, At: p.at, Open: !p.settled, ResultCode: p.code, ReceiptNumber: p.receipt,
		})
	}
	return list
}

// Deliveries gives the attempts to deliver callbacks, oldest first.
func (s *Simulator) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Delivery{}, s.book.sent...)
}

// resend answers 202 when a callback is sent again, or 404.
func (s *Simulator) resend(w http.ResponseWriter, r *http.Request) {
	if s.Resend(r.PathValue("id")) {
		answer(w, http.StatusAccepted, struct{}{})
		return
	}
	answer(w, http.StatusNotFound, map[string]string{"error": "no callback was made for this id"})
}

// Resend sends the newest callback of a CheckoutRequestID, or the confirmation of a receipt number, once more in the
// background; no fault drops it. It reports whether there was one.
func (s *Simulator) Resend(id string) bool {
	s.mu.Lock()
	c, ok := s.book.c2bSent[id]
	if p := s.book.prompts[id]; p != nil && p.last != nil {
		c, ok = *p.last, true
	}
	s.mu.Unlock()
	if ok {
		s.later(0, func(ctx context.Context) { s.deliver(ctx, c) })
	}
	return ok
}
