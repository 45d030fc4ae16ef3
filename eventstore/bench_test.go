package eventstore_test

import (
	"context"
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/eventstore"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// logged fills a log with n events, 100 to a stream.
func logged(b *testing.B, store *eventstore.Store, n int) {
	b.Helper()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 16)
	for range n / 100 {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if _, err := store.Append(context.Background(), stream(), eventstore.NoStream, several(100)); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
}

// BenchmarkReadAll reads and decodes the log page by page.
func BenchmarkReadAll(b *testing.B) {
	store, n := storetest.New(b).Store, 100_000
	logged(b, store, n)
	for b.Loop() {
		read, after := 0, uint64(0)
		for read < n {
			page, next, err := store.ReadAll(b.Context(), after, 1000, nil)
			if err != nil {
				b.Fatal(err)
			}
			read, after = read+len(page), next
		}
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkSubscribe reads and decodes the log as a projection does that is rebuilt.
func BenchmarkSubscribe(b *testing.B) {
	store, n := storetest.New(b).Store, 100_000
	logged(b, store, n)
	for b.Loop() {
		sub := store.Subscribe(b.Context(), 0, nil)
		for read := 0; read < n; {
			item, err := sub.Next(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if item.Event != nil {
				read++
			}
		}
		sub.Close()
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkAppend writes single events with 64 writers.
func BenchmarkAppend(b *testing.B) {
	store := storetest.New(b).Store
	b.SetParallelism(32)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := store.Append(b.Context(), stream(), eventstore.NoStream, several(1)); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
}
