package httpapi_test

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

func TestListener_StopBeforeStartFreesTheAddress(t *testing.T) {
	t.Parallel()
	l, err := httpapi.Listen(t.Context(), "127.0.0.1:0", http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	l.Stop()
	l.Stop()
	if conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr()); err == nil {
		_ = conn.Close()
		t.Error("still listening")
	}
	if err := l.Start(t.Context()); !errors.Is(err, loop.ErrStopped) {
		t.Errorf("start after stop gave %v, want ErrStopped", err)
	}
}
