package provider

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// tokenLife is the life that the provider grants; callers cache for less. Source: docs/facts/mobile-money.md#token.
const tokenLife = 3599 * time.Second

// issueToken answers GET /oauth/v1/generate. A new token makes the previous one of the same key invalid.
func (s *Simulator) issueToken(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("grant_type") != "client_credentials" {
		s.refuse(w, http.StatusBadRequest, "400.008.02", "Invalid grant type passed")
		return
	}
	key, secret, ok := r.BasicAuth()
	s.mu.Lock()
	known, found := s.book.credentials[key]
	ok = ok && key != "" && secret != "" && (len(s.book.credentials) == 0 || found && known.Secret == secret)
	var value string
	if ok {
		n := s.book.next()
		value = fmt.Sprintf("%016x%016x", s.book.mix(fmt.Sprint("token a", n)), s.book.mix(fmt.Sprint("token b", n)))
		s.book.tokens[key] = token{value: value, expires: s.cfg.Clock.Now().Add(tokenLife)}
	}
	s.mu.Unlock()
	if !ok {
		s.refuse(w, http.StatusBadRequest, "400.008.01", "Invalid Authentication passed")
		return
	}
	answer(w, http.StatusOK, map[string]string{"access_token": value, "expires_in": "3599"})
}

// authorised calls handle only for a valid bearer token, and answers 401 otherwise.
func (s *Simulator) authorised(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, ok := s.caller(r); !ok {
			s.refuse(w, http.StatusUnauthorized, "404.001.03", "Invalid Access Token")
			return
		}
		handle(w, r)
	}
}

// caller gives the consumer key of the request's token; false when the token is unknown or expired.
func (s *Simulator) caller(r *http.Request) (key string, ok bool) {
	bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return "", false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, t := range s.book.tokens {
		if t.value == bearer && s.cfg.Clock.Now().Before(t.expires) {
			return key, true
		}
	}
	return "", false
}

// mayUse reports whether the request's credentials own the shortcode. Unknown credentials and those without a shortcode
// may use every one.
func (s *Simulator) mayUse(r *http.Request, shortCode string) bool {
	key, ok := s.caller(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	known, found := s.book.credentials[key]
	return ok && (!found || known.ShortCode == "" || known.ShortCode == shortCode)
}
