package httpapi_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// loan is a row that belongs to a subscriber, or to nobody.
type loan struct {
	Number       int                    `json:"number"`
	SubscriberID id.Subscriber          `json:"-"`
	Subscriber   *httpapi.SubscriberRef `json:"subscriber"`
}

// Key is the place of the loan in the list.
func (l loan) Key() int { return l.Number }

// NameSubscribers implements httpapi.NamesSubscribers.
func (l *loan) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	l.Subscriber = name(l.SubscriberID)
}

func TestLists_NameTheSubscribersOfAPageWithOneLookup(t *testing.T) {
	t.Parallel()
	amina, omar, gone := id.New[id.Subscriber](), id.New[id.Subscriber](), id.New[id.Subscriber]()
	rows := []loan{{1, amina, nil}, {2, id.Subscriber{}, nil}, {3, amina, nil}, {4, gone, nil}, {5, omar, nil}}
	var asked [][]id.Subscriber
	of := map[id.Organization]bool{}
	k := apitest.New(t, func(c *httpapi.Config) {
		c.Subscribers = func(
			_ context.Context, org id.Organization, list []id.Subscriber,
		) (map[id.Subscriber]httpapi.SubscriberRef, error) {
			asked, of[org] = append(asked, list), true
			return map[id.Subscriber]httpapi.SubscriberRef{
				amina: {ID: amina, Name: new("Amina"), AccountNumber: "1"}, omar: {ID: omar, AccountNumber: "2"},
			}, nil
		}
	}, []httpapi.Route{{
		Method: "GET", Path: "/loans", Hosts: httpapi.OnBoth, Access: httpapi.AccessPublic, Summary: "Loans",
		Row: loan{}, Handle: func(ctx context.Context, c *httpapi.Call) error {
			return httpapi.SendList(ctx, c, func(l loan) loan { return l },
				func(context.Context, int, int) ([]loan, error) { return rows, nil })
		},
	}})
	var page httpapi.Envelope[loan]
	k.Do(t, apitest.Request{Path: "/loans"}).Into(t, &page)
	var names []string
	for _, l := range page.Data {
		switch {
		case l.Subscriber == nil:
			names = append(names, "null")
		case l.Subscriber.Name == nil:
			names = append(names, "forgotten "+l.Subscriber.AccountNumber)
		default:
			names = append(names, *l.Subscriber.Name)
		}
	}
	if diff := cmp.Diff([]string{"Amina", "null", "Amina", "null", "forgotten 2"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	k.Do(t, apitest.Request{Path: "/loans", Host: apitest.Domain}).Into(t, &page)
	if diff := cmp.Diff([][]id.Subscriber{{amina, gone, omar}}, asked); diff != "" || !of[k.Orgs["acme"].ID] {
		t.Errorf("one lookup, of Acme's, and none at the root host (-want +got):\n%s", diff)
	}
}
