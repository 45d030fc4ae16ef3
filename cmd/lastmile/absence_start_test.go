package main

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"
)

// TestAbsence_AProgramThatNeverServesIsNoSignOfLife: one of its addresses is taken, or a part of it cannot start, so
// that each start fails before the first request is answered. A service manager tries it again and again.
func TestAbsence_AProgramThatNeverServesIsNoSignOfLife(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.app.Stop()
	vault := k.db.Namespace.Schema("vault")
	_, err := k.db.Owner.Exec(t.Context(), `update `+vault+`.presence set beat_at = beat_at - interval '20 hours'`)
	if err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	unheard, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unheard.Close() }()
	before := k.environ
	for setting, addr := range map[string]net.Addr{
		"METRICS_ADDR": taken.Addr(), "WALLED_GARDEN_ADDR": taken.Addr(), "HTTP_ADDR": taken.Addr(),
		"RADIUS_AUTH_ADDR": unheard.LocalAddr(),
	} {
		k.environ = append(before[:len(before):len(before)], setting+"="+addr.String())
		app, err := StartApp(t.Context(), k.config(), allRoles, slog.New(slog.DiscardHandler), k.options())
		if err == nil {
			app.Stop()
			t.Fatalf("%s is taken, and the program starts", setting)
		}
		var seconds float64
		err = k.db.Owner.QueryRow(t.Context(), `select extract(epoch from now() - beat_at)::float8 from `+vault+
			`.presence`).Scan(&seconds)
		if err != nil {
			t.Fatal(err)
		}
		if age := time.Duration(seconds) * time.Second; age < 20*time.Hour {
			t.Errorf("%s: nobody was served for 20 hours, and the newest sign of life is %v old", setting, age)
		}
	}
	k.environ = before
	k.start()
	k.eventually("the absence to be noted", func(ctx context.Context) (bool, error) {
		s, err := k.app.storage.vault.Presence.Read(ctx)
		return time.Since(s.At) < time.Hour, err
	})
}

// TestAbsence_AStopIsToldAtItsBeginning: what is under way may take long, and the program takes no money meanwhile.
func TestAbsence_AStopIsToldAtItsBeginning(t *testing.T) {
	t.Parallel()
	k := newKit(t).start()
	stopped := func(ctx context.Context) (bool, error) {
		s, err := k.app.storage.vault.Presence.Read(ctx)
		return err == nil && len(s.Programs) == 1 && s.Programs[0].Stopped, err
	}
	if is, err := stopped(t.Context()); is || err != nil {
		t.Fatalf("a program that serves has stopped: %v, %v", is, err)
	}
	first := k.app.life.parts[len(k.app.life.parts)-1]
	first.stop(t.Context())
	k.eventually("the stop to be told while everything else goes on", stopped)
}
