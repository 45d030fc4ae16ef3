package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// Limits of connections. An endpoint with a long upload or download extends its own deadline by
// http.ResponseController.
const (
	headerLimit   = 5 * time.Second
	readLimit     = 30 * time.Second
	writeLimit    = requestLimit + 15*time.Second
	idleLimit     = 2 * time.Minute
	headerBytes   = 32 << 10
	shutdownLimit = 4 * time.Second // the program has 5 s to stop
)

// Listener serves a handler on an address. Stop lets running requests finish.
type Listener struct {
	server   *http.Server
	listener net.Listener
	loops    *loop.Group
	logger   *slog.Logger
}

// Listen opens the address, "host:port"; port 0 picks a free one. It serves after Start.
func Listen(ctx context.Context, address string, handler http.Handler, logger *slog.Logger) (*Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return &Listener{listener: l, loops: loop.New(logger), logger: logger, server: &http.Server{
		Handler: handler, ReadHeaderTimeout: headerLimit, ReadTimeout: readLimit, WriteTimeout: writeLimit,
		IdleTimeout: idleLimit, MaxHeaderBytes: headerBytes,
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}}, nil
}

// Addr is the address with the port in use, also when port 0 was asked for.
func (l *Listener) Addr() string { return l.listener.Addr().String() }

// Start serves until Stop (internal/loop has the contract).
func (l *Listener) Start(ctx context.Context) error {
	return l.loops.Start(ctx, func(context.Context) error {
		l.loops.Go("http listener", func(context.Context) { l.serve() })
		l.loops.Go("end of the http listener", func(ctx context.Context) {
			<-ctx.Done()
			l.shutDown(context.WithoutCancel(ctx))
		})
		return nil
	})
}

// Stop accepts no new requests, waits for the running ones up to shutdownLimit and cuts the rest. Before a start it
// frees the address.
func (l *Listener) Stop() {
	l.loops.Stop()
	_ = l.listener.Close() // the server has closed it already, unless it never began
}

// serve returns when the server is shut down, or when the listener fails.
func (l *Listener) serve() {
	if err := l.server.Serve(l.listener); !errors.Is(err, http.ErrServerClosed) {
		l.logger.Error("http listener ended", slog.String("address", l.Addr()), slog.String("error", err.Error()))
	}
}

// shutDown waits for running requests up to shutdownLimit, then closes their connections.
func (l *Listener) shutDown(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, shutdownLimit)
	defer cancel()
	if err := l.server.Shutdown(ctx); err != nil {
		l.logger.Warn("http requests cut", slog.String("address", l.Addr()), slog.String("error", err.Error()))
		_ = l.server.Close() // its error says only that a connection was gone already
	}
}
