// Package smsprovider simulates an SMS provider on a real socket, which speaks as Africa's Talking does
// (docs/facts/messaging.md#africas-talking): it takes texts, keeps them to be read, reports what became of them, and
// misbehaves on request.
package smsprovider

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Config of a simulator; the zero value is usable.
type Config struct {
	Addr   string // listen address; a free loopback port when empty
	User   string // with Key; "" takes any
	Key    string
	Logger *slog.Logger // silent when nil
}

// Fault is a way in which the provider misbehaves.
type Fault string

// The faults; each lasts until another one is set.
const (
	NoFault        Fault = ""
	NoBalance      Fault = "no_balance"       // 201, and the only recipient has failed for want of money
	InvalidNumber  Fault = "invalid_number"   // 201, and there is no such phone
	Blocked        Fault = "blocked"          // 201, and the phone wants no messages
	ErrorInBody    Fault = "error_in_body"    // 200, a message about an error, and no recipient
	Page           Fault = "page"             // 200 with a web page
	InternalError  Fault = "internal_error"   // 500, after the text was taken
	BadGateway     Fault = "bad_gateway"      // 502, after the text was taken behind what answers
	CutAnswer      Fault = "cut_answer"       // 201 with half of the answer, after the text was taken
	Busy           Fault = "busy"             // 503
	DropBefore     Fault = "drop_before"      // the connection ends, and nothing was taken
	DropAfterTaken Fault = "drop_after_taken" // the text is taken, and the connection ends before the answer
)

// Text is one text that the provider has taken.
type Text struct {
	ID       string // the provider's
	To, From string
	Text     string
}

// Simulator is the provider. Safe for concurrent use. Start it once and Stop it once.
type Simulator struct {
	cfg    Config
	server *http.Server
	url    string
	work   sync.WaitGroup

	mu    sync.Mutex
	fault Fault
	texts []Text
	calls int
}

// New makes a simulator that has taken nothing; it listens after Start.
func New(cfg Config) *Simulator {
	cfg.Addr = cmp.Or(cfg.Addr, "127.0.0.1:0")
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Simulator{cfg: cfg}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /version1/messaging", s.take)
	s.server = &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelDebug),
	}
	return s
}

// Start listens and serves until Stop.
func (s *Simulator) Start(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.cfg.Addr)
	if err != nil {
		return fmt.Errorf("listen as SMS provider: %w", err)
	}
	s.url = "http://" + listener.Addr().String() + "/version1/messaging"
	s.work.Go(func() {
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.cfg.Logger.Error("SMS simulator stopped serving", "error", err)
		}
	})
	return nil
}

// URL gives the address to which texts are posted; empty before Start.
func (s *Simulator) URL() string { return s.url }

// Stop closes the listener. What was taken can still be read.
func (s *Simulator) Stop(context.Context) error {
	err := s.server.Close()
	s.work.Wait()
	return err
}

// SetFault replaces the fault.
func (s *Simulator) SetFault(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Texts lists what was taken, in the order in which it came.
func (s *Simulator) Texts() []Text {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Text(nil), s.texts...)
}

// Calls is how often a text was handed over, whatever became of it.
func (s *Simulator) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// recipient is the answer about one phone.
type recipient struct {
	StatusCode int    `json:"statusCode"`
	Number     string `json:"number"`
	Status     string `json:"status"`
	Cost       string `json:"cost"`
	MessageID  string `json:"messageId"`
}

// data is the answer about a message.
type data struct {
	Message    string
	Recipients []recipient
}

// judge takes a text, or not, as the fault says.
func (s *Simulator) judge(to, from, text string) (Fault, recipient) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	said := recipient{Number: to, Cost: "0", MessageID: "None"}
	switch s.fault {
	case NoBalance:
		said.StatusCode, said.Status = 405, "InsufficientBalance"
	case InvalidNumber:
		said.StatusCode, said.Status = 403, "InvalidPhoneNumber"
	case Blocked:
		said.StatusCode, said.Status = 406, "UserInBlacklist"
	case ErrorInBody, Page, Busy, DropBefore:
	default: // it is taken
		said = recipient{101, to, "Success", "KES 0.8000", fmt.Sprintf("ATXid_%06d", len(s.texts)+1)}
		s.texts = append(s.texts, Text{said.MessageID, to, from, text})
	}
	return s.fault, said
}

// take serves one message to one phone.
func (s *Simulator) take(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("apiKey") != s.cfg.Key || s.cfg.User != "" && r.FormValue("username") != s.cfg.User {
		http.Error(w, "The supplied authentication is invalid", http.StatusUnauthorized)
		return
	}
	fault, said := s.judge(r.FormValue("to"), r.FormValue("from"), r.FormValue("message"))
	answer := data{Message: "Sent to 1/1 Total Cost: " + said.Cost, Recipients: []recipient{said}}
	status := http.StatusCreated
	switch fault {
	case DropBefore, DropAfterTaken:
		panic(http.ErrAbortHandler)
	case InternalError, BadGateway, Busy:
		status = map[Fault]int{
			InternalError: http.StatusInternalServerError, BadGateway: http.StatusBadGateway,
			Busy: http.StatusServiceUnavailable,
		}[fault]
		http.Error(w, "please try again", status)
		return
	case CutAnswer:
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"SMSMessageData":{"Message":"Sent to 1/1","Recipients":[{"statusCode":101,`))
		return
	case Page:
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>Please sign in to the network</html>"))
		return
	case ErrorInBody:
		status, answer = http.StatusOK, data{Message: "InvalidSenderId", Recipients: []recipient{}}
	default: // the recipient tells
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"SMSMessageData": answer})
}

// Report posts a delivery report about a taken text, as the provider does: a form. It gives the answer's status.
func (s *Simulator) Report(ctx context.Context, to, reference, status, reason string) (int, error) {
	form := url.Values{"id": {reference}, "status": {status}, "networkCode": {"63902"}, "retryCount": {"0"}}
	if reason != "" {
		form.Set("failureReason", reason)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}
