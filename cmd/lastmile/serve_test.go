package main

import (
	"context"
	"strings"
	"testing"
)

func TestServe_TellsMisspeltVariablesAndItsEnd(t *testing.T) {
	t.Parallel()
	k := newKit(t, "PAYMENT_ALLOWED_IP=127.0.0.1")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out, errs logBuffer
	ended := make(chan int, 1)
	go func() { ended <- program{environ: k.environ, out: &out, err: &errs}.run(ctx, []string{"serve"}) }()
	k.eventually("the program", func(context.Context) (bool, error) {
		return strings.Contains(errs.String(), `"msg":"ready"`), nil
	})
	stop() // as SIGTERM does
	if code := <-ended; code != exitOK {
		t.Errorf("exit code %d", code)
	}
	for _, line := range []string{
		`"msg":"unknown variable","variable":"PAYMENT_ALLOWED_IP is not`, `"msg":"stopping","why":"signal"`,
		`"msg":"stopped"`,
	} {
		if !strings.Contains(errs.String(), line) {
			t.Errorf("no %s in the log:\n%s", line, errs.String())
		}
	}
}
