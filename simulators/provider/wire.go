package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// text is a JSON string or number, unchanged: callers send either.
type text string

// UnmarshalJSON accepts a string, a number or null, which becomes "".
func (t *text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*t = text(s)
		return nil
	}
	if string(b) == "null" {
		*t = ""
		return nil
	}
	var n json.Number
	if err := json.Unmarshal(b, &n); err != nil {
		return fmt.Errorf("neither string nor number: %s", b)
	}
	*t = text(n)
	return nil
}

// answer writes a JSON body. A write error means that the caller has gone, and is ignored.
func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// refuse writes the provider's error form. Source: docs/facts/mobile-money.md#error-form.
func (s *Simulator) refuse(w http.ResponseWriter, status int, code, message string) {
	s.mu.Lock()
	requestID := s.book.id("req-")
	s.mu.Unlock()
	s.log.Debug("provider refuses", "status", status, "error_code", code, "reason", message)
	answer(w, status, map[string]string{"requestId": requestID, "errorCode": code, "errorMessage": message})
}

// decode reads a provider request; when ok is false, the refusal is already sent.
func decode[T any](s *Simulator, w http.ResponseWriter, r *http.Request) (body T, ok bool) {
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		s.refuse(w, http.StatusBadRequest, "400.002.05", "Invalid Request Payload")
		return body, false
	}
	return body, true
}
