package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMetrics_ShowMoneyThatWaits: every metric that should wake an operator is on the metrics listener, and in the
// table of docs/operations.md.
func TestMetrics_ShowMoneyThatWaits(t *testing.T) {
	t.Parallel()
	k := newKit(t, "METRICS_ADDR=127.0.0.1:0").start().signIn()
	k.paybillReady()
	k.pay("254711000701", "nobody", 100)
	wanted := []string{
		`lastmile_receipts_attention{why="suspense"} 1`, `lastmile_receipts_attention{why="disputed"} 0`,
		`lastmile_receipts_attention{why="unclaimed"} 0`, `lastmile_process_stopped{process="receipts"} 0`,
		`lastmile_process_retrying{process="renewal"} 0`, `lastmile_jobs{state="discarded"} 0`,
		`lastmile_books_faults{code="not_checked"} 1`, "lastmile_callbacks_waiting 0", "lastmile_routers_unchecked 0",
		`lastmile_projection_stopped{projection="audit_log"} 0`, `lastmile_routers_drifted{part="setup"} 0`,
		`lastmile_routers_drifted{part="services"} 0`,
	}
	var page []byte
	k.eventually("metrics", func(ctx context.Context) (bool, error) {
		text, err := scrape(ctx, "http://"+k.app.metricsListener.Addr()+"/metrics")
		for _, line := range wanted {
			if !bytes.Contains(text, []byte(line+"\n")) {
				return false, err
			}
		}
		page = text
		return true, err
	})
	if diff := cmp.Diff(documentedMetrics(t), shownMetrics(page)); diff != "" {
		t.Errorf("metrics (-operations.md +shown):\n%s", diff)
	}
}

// scrape reads a page of metrics as Prometheus would.
func scrape(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	return io.ReadAll(res.Body)
}
