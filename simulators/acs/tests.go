package acs

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// planTests lets the device do the tests that were asked for, after the session.
func (x *session) planTests() {
	if x.faults().NoDiagnostics {
		return
	}
	d, s := x.d, x.sim
	d.boxMu.Lock()
	defer d.boxMu.Unlock()
	for _, p := range d.box.below("") {
		prefix, ok := strings.CutSuffix(p, "DiagnosticsState")
		if !ok || d.box.params[p].value != "Requested" || d.box.testing[prefix] {
			continue
		}
		d.box.testing[prefix] = true
		x.after = append(x.after, func(ctx context.Context) {
			s.test(ctx, d, prefix)
			if again := s.openPatiently(ctx, d, []string{tested}); again != nil {
				again.carry()
				again.presets()
				again.queue()
				s.end(again)
			}
		})
	}
}

// test does one test and writes its results.
func (s *Simulator) test(ctx context.Context, d *device, prefix string) {
	s.mu.Lock()
	state := d.faults.Diagnostics
	s.mu.Unlock()
	text := func(name string) string {
		d.boxMu.Lock()
		defer d.boxMu.Unlock()
		if p := d.box.params[prefix+name]; p != nil {
			v, _ := coerce(p.value, typeText)
			out, _ := v.(string)
			return out
		}
		return ""
	}
	results := map[string]any{}
	wanted := "Complete"
	if !strings.HasPrefix(state, "Error_") {
		switch {
		case strings.Contains(prefix, "DownloadDiagnostics"):
			wanted = s.moved(ctx, results, text("DownloadURL"), -1)
		case strings.Contains(prefix, "UploadDiagnostics"):
			var n int64
			_, _ = fmt.Sscan(text("TestFileLength"), &n)
			wanted = s.moved(ctx, results, text("UploadURL"), n)
		default:
			wanted = ping(results, text("Host"), text("NumberOfRepetitions"))
		}
	}
	if state == "" || !strings.HasPrefix(wanted, "Complete") {
		state = wanted
	}
	results["DiagnosticsState"] = state
	d.boxMu.Lock()
	defer d.boxMu.Unlock()
	delete(d.box.testing, prefix)
	for name, value := range results {
		if p := d.box.params[prefix+name]; p != nil {
			p.value = value
		}
	}
}

// moved fetches or sends a file over HTTP and gives the state in which the test ends. The instants are those of the
// simulator's clock, as far apart as the transfer really took, and a millisecond at least.
func (s *Simulator) moved(ctx context.Context, results map[string]any, address string, upload int64) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || u.Hostname() == "" {
		return "Error_InitConnectionFailed"
	}
	if ip, err := netip.ParseAddr(u.Hostname()); (err != nil || !ip.IsLoopback()) && u.Hostname() != "localhost" {
		return "Error_CannotResolveHostName"
	}
	at, began := s.clock.Now(), time.Now()
	var n int64
	if upload < 0 {
		n, err = s.get(ctx, address)
	} else {
		n, err = upload, s.put(ctx, address, upload)
	}
	if err != nil {
		return "Error_TransferFailed"
	}
	took := max(time.Since(began), time.Millisecond)
	results["ROMTime"], results["BOMTime"], results["EOMTime"] = at, at, at.Add(took)
	results["TCPOpenRequestTime"], results["TCPOpenResponseTime"] = at, at
	if upload < 0 {
		results["TestBytesReceived"], results["TotalBytesReceived"] = float64(n), float64(n)
	} else {
		results["TotalBytesSent"] = float64(n)
	}
	return "Complete"
}

// get fetches a file and gives its length.
func (s *Simulator) get(ctx context.Context, address string) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	w, err := s.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer w.Body.Close()
	n, err := io.Copy(io.Discard, w.Body)
	if err == nil && w.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", w.StatusCode)
	}
	return n, err
}

// put sends a file of zeros.
func (s *Simulator) put(ctx context.Context, address string, length int64) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, address, io.LimitReader(zeros{}, length))
	if err != nil {
		return err
	}
	req.ContentLength = length
	if length == 0 {
		req.Body = http.NoBody
	}
	w, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer w.Body.Close()
	_, _ = io.Copy(io.Discard, w.Body)
	if w.StatusCode/100 != 2 {
		return fmt.Errorf("status %d", w.StatusCode)
	}
	return nil
}

// zeros is a reader without an end.
type zeros struct{}

// Read implements io.Reader.
func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// ping makes up the results of a ping; hosts that end in .invalid do not resolve, and 192.0.2.0/24 does not answer.
func ping(results map[string]any, host, repetitions string) string {
	n := 1.0
	_, _ = fmt.Sscan(repetitions, &n)
	switch {
	case host == "" || strings.HasSuffix(host, ".invalid"):
		return "Error_CannotResolveHostName"
	case strings.HasPrefix(host, "192.0.2."):
		results["SuccessCount"], results["FailureCount"] = 0.0, n
		results["AverageResponseTime"], results["MinimumResponseTime"], results["MaximumResponseTime"] = 0.0, 0.0, 0.0
		return "Complete"
	}
	results["SuccessCount"], results["FailureCount"] = n, 0.0
	results["AverageResponseTime"], results["MinimumResponseTime"], results["MaximumResponseTime"] = 12.0, 9.0, 20.0
	return "Complete"
}
