// Package whatsapp simulates the Cloud API of WhatsApp on a real socket (docs/facts/messaging.md#whatsapp): it takes
// messages of approved texts, keeps them to be read, reports what became of them, signed, and misbehaves on request.
package whatsapp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
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
)

// Config of a simulator.
type Config struct {
	Addr   string // listen address; a free loopback port when empty
	Number string // id of the sender's phone number
	Token  string
	Secret string         // signs reports
	Texts  map[string]int // the approved texts, each with the number of its places
	Logger *slog.Logger   // silent when nil
}

// Fault is a way in which WhatsApp misbehaves.
type Fault string

// The faults; each lasts until another one is set.
const (
	NoFault        Fault = ""
	Unreachable    Fault = "unreachable"      // 400: the phone cannot have the message
	OptedOut       Fault = "opted_out"        // 400: the person wants none of these messages
	TooFast        Fault = "too_fast"         // 429: too many messages
	TokenExpired   Fault = "token_expired"    // 401
	InternalError  Fault = "internal_error"   // 500 with a page, after the message was taken
	Page           Fault = "page"             // 200 with a web page
	DropAfterTaken Fault = "drop_after_taken" // it is taken, and the connection ends before the answer
)

// Message is one message that was taken.
type Message struct {
	ID       string
	To       string // digits
	Name     string // of the approved text
	Language string
	Values   []string
}

// Simulator is WhatsApp. Safe for concurrent use. Start it once and Stop it once.
type Simulator struct {
	cfg    Config
	server *http.Server
	url    string
	work   sync.WaitGroup

	mu       sync.Mutex
	fault    Fault
	messages []Message
	calls    int
}

// New makes a simulator that has taken nothing; it listens after Start.
func New(cfg Config) *Simulator {
	cfg.Addr = cmp.Or(cfg.Addr, "127.0.0.1:0")
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Simulator{cfg: cfg}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v23.0/{number}/messages", s.take)
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
		return fmt.Errorf("listen as WhatsApp: %w", err)
	}
	s.url = "http://" + s.cfg.Number + ":" + s.cfg.Token + "@" + listener.Addr().String() + "/v23.0"
	s.work.Go(func() {
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.cfg.Logger.Error("WhatsApp simulator stopped serving", "error", err)
		}
	})
	return nil
}

// URL gives the address as WHATSAPP_URL has it, with number and token; empty before Start.
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

// Messages lists what was taken, in the order in which it came.
func (s *Simulator) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages)
}

// Calls is how often a message was handed over, whatever became of it.
func (s *Simulator) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// body is a message on the wire.
type body struct {
	Product  string `json:"messaging_product"`
	To       string `json:"to"`
	Type     string `json:"type"`
	Template struct {
		Name     string `json:"name"`
		Language struct {
			Code string `json:"code"`
		} `json:"language"`
		Components []struct {
			Type       string `json:"type"`
			Parameters []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"parameters"`
		} `json:"components"`
	} `json:"template"`
}

// message reads a body; false for one that is no message of an approved text.
func (b body) message() (Message, bool) {
	m := Message{To: b.To, Name: b.Template.Name, Language: b.Template.Language.Code}
	for _, part := range b.Template.Components {
		for _, value := range part.Parameters {
			if part.Type != "body" || value.Type != "text" || strings.TrimSpace(value.Text) == "" {
				return m, false
			}
			m.Values = append(m.Values, value.Text)
		}
	}
	digits := strings.Trim(b.To, "0123456789") == ""
	return m, b.Product == "whatsapp" && b.Type == "template" && digits && b.To != "" && m.Language != ""
}

// refusal is an error on the wire.
type refusal struct {
	status, code int
	message      string
}

// judge takes a message, or not.
func (s *Simulator) judge(b body) (Fault, Message, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	m, ok := b.message()
	places, known := s.cfg.Texts[m.Name]
	switch {
	case !ok:
		return s.fault, m, &refusal{400, 100, "Invalid parameter"}
	case !known:
		return s.fault, m, &refusal{404, 132001, "Template name does not exist in the translation"}
	case places != len(m.Values):
		return s.fault, m, &refusal{400, 132000, "Number of parameters does not match"}
	}
	switch s.fault {
	case Unreachable:
		return s.fault, m, &refusal{400, 131026, "Message undeliverable"}
	case OptedOut:
		return s.fault, m, &refusal{400, 131050, "User has stopped marketing messages"}
	case TooFast:
		return s.fault, m, &refusal{429, 130429, "Rate limit hit"}
	case TokenExpired:
		return s.fault, m, &refusal{401, 190, "Access token has expired"}
	case Page:
		return s.fault, m, nil
	case NoFault, InternalError, DropAfterTaken: // it is taken
	}
	m.ID = fmt.Sprintf("wamid.%06d", len(s.messages)+1)
	s.messages = append(s.messages, m)
	return s.fault, m, nil
}

// take serves one message to one phone.
func (s *Simulator) take(w http.ResponseWriter, r *http.Request) {
	var b body
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&b); err != nil {
		answer(w, refusal{400, 100, "Invalid parameter"})
		return
	}
	if r.PathValue("number") != s.cfg.Number || r.Header.Get("Authorization") != "Bearer "+s.cfg.Token {
		answer(w, refusal{401, 190, "Invalid OAuth access token"})
		return
	}
	fault, m, no := s.judge(b)
	switch {
	case no != nil:
		answer(w, *no)
	case fault == DropAfterTaken:
		panic(http.ErrAbortHandler)
	case fault == InternalError:
		http.Error(w, "<html>An error occurred</html>", http.StatusInternalServerError)
	case fault == Page:
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>Please sign in to the network</html>"))
	default:
		send(w, http.StatusOK, map[string]any{
			"messaging_product": "whatsapp",
			"contacts":          []any{map[string]string{"input": m.To, "wa_id": m.To}},
			"messages":          []any{map[string]string{"id": m.ID, "message_status": "accepted"}},
		})
	}
}

// answer sends an error.
func answer(w http.ResponseWriter, no refusal) {
	send(w, no.status, map[string]any{"error": map[string]any{
		"message": fmt.Sprintf("(#%d) %s", no.code, no.message), "type": "OAuthException", "code": no.code,
		"error_data": map[string]string{"messaging_product": "whatsapp", "details": no.message},
		"fbtrace_id": "Az8or2yhqkZfEZ-_4Qn_Bam",
	}})
}

// send writes JSON.
func send(w http.ResponseWriter, status int, of any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(of)
}

// Status tells what became of a message: "sent", "delivered", "read", or "failed" with the code of an error.
type Status struct {
	ID, Status string
	Error      int
}

// Report posts what became of messages, signed. It gives the answer's status.
func (s *Simulator) Report(ctx context.Context, to string, list ...Status) (int, error) {
	statuses := make([]any, 0, len(list))
	for _, of := range list {
		status := map[string]any{
			"id": of.ID, "status": of.Status, "timestamp": "1750857384", "recipient_id": "254711000111",
		}
		if of.Error != 0 {
			status["errors"] = []any{map[string]any{"code": of.Error, "title": "Message undeliverable"}}
		}
		statuses = append(statuses, status)
	}
	text, err := json.Marshal(map[string]any{
		"object": "whatsapp_business_account",
		"entry": []any{map[string]any{"id": "1", "changes": []any{map[string]any{
			"field": "messages", "value": map[string]any{"messaging_product": "whatsapp", "statuses": statuses},
		}}}},
	})
	if err != nil {
		return 0, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(text))
	if err != nil {
		return 0, err
	}
	mac := hmac.New(sha256.New, []byte(s.cfg.Secret))
	mac.Write(text)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}
