package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs/payments"
)

// keptFor puts a callback on the disk of a program, as one does that is answered before it knows that it stands by.
func (k *kit) keptFor(dir string, key []byte) {
	k.t.Helper()
	ring, err := secrets.New(key)
	if err != nil {
		k.t.Fatal(err)
	}
	kept := paymentsjobs.NewKept(paymentsjobs.KeptConfig{
		Dir: dir, Ring: ring, Limits: vault.NewLocalLimits(clock.System()), PerMinute: 100, Clock: clock.System(),
		Logger: slog.New(slog.DiscardHandler),
	})
	if err := kept.Open(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
	defer kept.Stop()
	body := fmt.Sprintf(`{"Body":{"stkCallback":{"MerchantRequestID":"1","CheckoutRequestID":"ws_CO_%s",`+
		`"ResultCode":1032,"ResultDesc":"cancelled"}}}`, uuid.New())
	if _, err := kept.Receive(k.t.Context(), paymentsjobs.CallbackPrompt, "", "127.0.0.1", []byte(body)); err != nil {
		k.t.Fatal(err)
	}
}

// inboxOf counts the callbacks in the inbox of all programs.
func (k *kit) inboxOf(ctx context.Context) (n int, err error) {
	err = k.db.Owner.QueryRow(ctx, `select count(*) from `+k.db.Namespace.Schema("vault")+`.callbacks`).Scan(&n)
	return n, err
}

// TestStandby_CallbacksOnItsDiskReachTheProgramThatServes: it was asked before it knew that it stands by, or has served
// before. It would store them only when it serves itself.
func TestStandby_CallbacksOnItsDiskReachTheProgramThatServes(t *testing.T) {
	t.Parallel()
	key := []byte("ABCABCABCABCABCABCABCABCABCABCAB") // that of the environment
	dirs := []string{dataDir(t), dataDir(t)}
	k := newKit(t, "PLATFORM_ENCRYPTION_KEY="+strings.Repeat("QUJD", 10)+"QUI=",
		"JWT_SIGNING_KEY="+strings.Repeat("a signing key of the pair ", 2))
	first := k.standbyOf(freePort(t), dirs[0])
	k.isReady(first)
	k.keptFor(dirs[1], key)
	if err := os.Rename(filepath.Join(dirs[1], "callbacks"), filepath.Join(dirs[1], "callbacks-2")); err != nil {
		k.t.Fatal(err) // of another program that has used this directory and is gone
	}
	k.keptFor(dirs[1], key)
	second := k.standbyOf(freePort(t), dirs[1])
	k.standsBy(second, "esdb://127.0.0.1:")
	k.eventually("both callbacks to be in the inbox", func(ctx context.Context) (bool, error) {
		n, err := k.inboxOf(ctx)
		return n == 2, fmt.Errorf("%d are, %w", n, err)
	})
}
