package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// placesKit is a server with an answer that takes a place.
type placesKit struct {
	*apitest.Kit
	made chan id.Organization // an answer is being made
	free chan struct{}        // lets one of them be made
	read chan struct{}        // closed when slow clients have read theirs
	got  chan string          // answers, as host, status and Retry-After
}

// newPlacesKit starts one.
func newPlacesKit(t *testing.T) *placesKit {
	t.Helper()
	k := &placesKit{made: make(chan id.Organization), free: make(chan struct{}), got: make(chan string),
		read: make(chan struct{})}
	k.Kit = apitest.New(t, nil, []httpapi.Route{{
		Method: "GET", Path: "/large", Hosts: httpapi.OnOrganization, Access: httpapi.AccessPublic, Summary: "Large",
		Response: map[string]string{}, Codes: []string{"too_many_documents"},
		Handle: func(ctx context.Context, c *httpapi.Call) error {
			for range 2 { // the second time it has its place
				if err := c.TakePlace(ctx); err != nil {
					return err
				}
			}
			k.made <- c.Org.ID
			select {
			case <-k.free:
			case <-ctx.Done():
			}
			err := apitest.Ok(ctx, c)
			if c.Request.Header.Get("X-Slow") != "" {
				<-k.read
			}
			return err
		},
	}})
	return k
}

// ask begins requests of a host.
func (k *placesKit) ask(t *testing.T, host string, n int, slow string) {
	t.Helper()
	for range n {
		go func() {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, k.URL()+"/large", nil)
			req.Host = host
			req.Header.Set("X-Slow", slow)
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				return // the test is over
			}
			_ = res.Body.Close()
			k.got <- fmt.Sprint(host, " ", res.StatusCode, " ", res.Header.Get("Retry-After"))
		}()
	}
}

// TestPlaces_AnOrganizationFillsItsOwnLineAlone: two large answers are made at a time, sixteen wait for an
// organization, and another one has the next turn but one.
func TestPlaces_AnOrganizationFillsItsOwnLineAlone(t *testing.T) {
	t.Parallel()
	k := newPlacesKit(t)
	const places, line, late = 2, 16, 7
	k.ask(t, apitest.Acme, places+line+late, "")
	for range places {
		<-k.made
	}
	for range late {
		if got := <-k.got; got != apitest.Acme+" 429 5" {
			t.Errorf("one who came late: %s", got)
		}
	}
	acme, other := k.Orgs["acme"].ID, k.Orgs["other"].ID
	k.ask(t, apitest.Other, places+line+late, "")
	for range late {
		if got := <-k.got; got != apitest.Other+" 429 5" {
			t.Errorf("one of the neighbour: %s", got)
		}
	}
	turns := map[id.Organization]int{}
	for range 4 {
		k.free <- struct{}{}
		turns[<-k.made]++
		<-k.got
	}
	if turns[acme] != 2 || turns[other] != 2 {
		t.Errorf("%d turns, %d of the neighbour", turns[acme], turns[other])
	}
	for range 2*line - 4 {
		k.free <- struct{}{}
		<-k.made
		<-k.got
	}
	for range places {
		k.free <- struct{}{}
		<-k.got
	}
}

// TestPlaces_ASlowClientHoldsNone of them.
func TestPlaces_ASlowClientHoldsNone(t *testing.T) {
	t.Parallel()
	k := newPlacesKit(t)
	const slow = 5
	for range slow {
		k.ask(t, apitest.Acme, 1, "yes")
		<-k.made
		k.free <- struct{}{}
	}
	k.ask(t, apitest.Acme, 1, "")
	<-k.made
	k.free <- struct{}{}
	close(k.read)
	for range slow + 1 {
		if got := <-k.got; got != apitest.Acme+" 200 " {
			t.Error(got)
		}
	}
}
