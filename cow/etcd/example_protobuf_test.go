package etcd_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot/clone"
)

// Messages of protobuf are cloned by their own package.
func Example_protobuf() {
	settings := cow.New[string](
		cow.Options[*structpb.Struct]{Clone: proto.CloneOf[*structpb.Struct]})
	s, _ := structpb.NewStruct(map[string]any{"color": "blue"})
	settings.Set("ada", s)
	s.Fields["color"] = structpb.NewStringValue("red") // the table has its own

	was, _ := settings.Get("ada")
	fmt.Println(was.Fields["color"].GetStringValue())
	// Output: blue
}

// Who did not say how to clone a message is told.
func TestProtobufMessagesAreRefused(t *testing.T) {
	refused := func(f func()) string {
		t.Helper()
		var err any
		func() {
			defer func() { err = recover() }()
			f()
		}()
		require.Implements(t, (*error)(nil), err)
		return err.(error).Error()
	}
	require.Contains(t, refused(func() { cow.New[string](cow.Options[*structpb.Struct]{}) }),
		"it is a protobuf message, for which there is Options{Clone: proto.CloneOf[*structpb.Struct]}")
	require.Contains(t, refused(func() { clone.Of[durationpb.Duration]() }),
		"it is a protobuf message: store pointers to it, with Options{Clone: proto.CloneOf[*durationpb.Duration]}")
	type row struct{ Took *durationpb.Duration }
	require.Contains(t, refused(func() { cow.New[string](cow.Options[*row]{}) }),
		"give the type that holds the message a Clone method that calls proto.CloneOf")

	type event struct{ Body any }
	of := cow.New[string](cow.Options[*event]{})
	_, err := of.Set("a", &event{durationpb.New(1)})
	require.ErrorContains(t, err, "calls proto.CloneOf")
}
