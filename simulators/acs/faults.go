package acs

import (
	"context"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Faults sets how the northbound interface misbehaves. PUT /sim/faults replaces them all.
type Faults struct {
	// LatencyMs delays every answer.
	LatencyMs int `json:"latencyMs"`
	// Hang takes requests and never answers; nothing is done.
	Hang bool `json:"hang"`
	// Refuse resets every connection.
	Refuse bool `json:"refuse"`
	// HTML answers every request with a page of a proxy, with this status.
	HTML int `json:"html"`
	// FailNext answers so many requests 500, as a database does that is away.
	FailNext int `json:"failNext"`
	// LoseAnswers acts on so many writes and breaks the connection instead of answering.
	LoseAnswers int `json:"loseAnswers"`
	// CrashNext breaks off at so many writes before they are done.
	CrashNext int `json:"crashNext"`
	// StripReasons is a proxy that puts HTTP's own phrase in the place of the server's.
	StripReasons bool `json:"stripReasons"`
	// CutLists ends the bodies of lists in their middle.
	CutLists bool `json:"cutLists"`
}

// DeviceFaults sets how a device misbehaves.
type DeviceFaults struct {
	// Reject refuses values of parameters by their paths, with a code such as 9007.
	Reject map[string]string `json:"reject,omitempty"`
	// Fail refuses whole calls: GetParameterValues, SetParameterValues, AddObject, DeleteObject, Reboot, FactoryReset,
	// Download, with a code such as 9002.
	Fail map[string]string `json:"fail,omitempty"`
	// TransferFault is the code of a download that the device accepted and could not carry out.
	TransferFault string `json:"transferFault,omitempty"`
	// KeepFirmware takes a file of firmware, boots, and runs the version of before.
	KeepFirmware bool `json:"keepFirmware,omitempty"`
	// Diagnostics is the state in which tests end, such as Error_CannotResolveHostName or Completed; Complete when
	// empty.
	Diagnostics string `json:"diagnostics,omitempty"`
	// NoDiagnostics never ends a test.
	NoDiagnostics bool `json:"noDiagnostics,omitempty"`
	// Held keeps the device in session.
	Held bool `json:"held,omitempty"`
	// NoSession takes connection requests and begins no session.
	NoSession bool `json:"noSession,omitempty"`
	// NoAddress leaves the address for connection requests out of informs.
	NoAddress bool `json:"noAddress,omitempty"`
	// Swallow accepts values and does not take them.
	Swallow bool `json:"swallow,omitempty"`
}

// SetFaults replaces the faults of the northbound interface; the zero value ends them all.
func (s *Simulator) SetFaults(f Faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.server = f
}

// Faults gives the present faults of the northbound interface.
func (s *Simulator) Faults() Faults {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.server
}

// take uses up one of a counted fault.
func (s *Simulator) take(count func(*Faults) *int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := count(&s.state.server)
	if *n <= 0 {
		return false
	}
	*n--
	return true
}

// aborted breaks the connection of the handler that panics with it.
var aborted = http.ErrAbortHandler

// faulty passes a request of the northbound interface through the faults.
func (s *Simulator) faulty(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f := s.Faults()
		writes := r.Method != http.MethodGet && r.Method != http.MethodHead
		if f.LatencyMs > 0 && !loop.Sleep(r.Context(), time.Duration(f.LatencyMs)*time.Millisecond) {
			panic(aborted)
		}
		switch {
		case f.Refuse:
			panic(aborted)
		case f.Hang:
			s.untilEnd(r.Context())
			panic(aborted)
		case f.HTML > 0:
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(f.HTML)
			_, _ = w.Write([]byte("<html><body>Welcome to the proxy</body></html>"))
			return
		}
		w.Header().Set("GenieACS-Version", version)
		w.Header().Set("Date", s.clock.Now().UTC().Format(http.TimeFormat))
		switch {
		case s.take(func(f *Faults) *int { return &f.FailNext }):
			w.WriteHeader(http.StatusInternalServerError)
		case writes && s.take(func(f *Faults) *int { return &f.CrashNext }):
			s.crash(r.Context())
		case writes && s.take(func(f *Faults) *int { return &f.LoseAnswers }):
			next(&lost{header: http.Header{}}, r)
			panic(aborted)
		default:
			next(w, r)
		}
	}
}

// version is the release that is simulated.
const version = "1.2.16"

// untilEnd waits for the end of a request, or of the simulator.
func (s *Simulator) untilEnd(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-s.run.Done():
	}
}

// crash does the same as an exception in a handler of the server: nothing is answered, and the process ends later.
func (s *Simulator) crash(ctx context.Context) {
	loop.Sleep(ctx, s.cfg.CrashHang)
	panic(aborted)
}

// lost takes an answer that is never sent.
type lost struct{ header http.Header }

// Header implements http.ResponseWriter.
func (l *lost) Header() http.Header { return l.header }

// Write implements http.ResponseWriter.
func (l *lost) Write(b []byte) (int, error) { return len(b), nil }

// WriteHeader implements http.ResponseWriter.
func (l *lost) WriteHeader(int) {}
