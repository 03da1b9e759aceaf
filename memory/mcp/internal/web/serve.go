package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const maxHeaderBytes = 64 << 10

// Serve serves h at an address until ctx ends, and returns its cause then. Without a token the
// address must be one of this machine alone, as 127.0.0.1:8123.
func Serve(ctx context.Context, address, token string, h http.Handler, log *slog.Logger) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("serve over HTTP: %w", err)
	}
	if at, ok := l.Addr().(*net.TCPAddr); token == "" && (!ok || !at.IP.IsLoopback()) {
		_ = l.Close()
		return fmt.Errorf("serve over HTTP: %s can be reached from other machines: set a token", address)
	}
	log.Info("serving over HTTP", "address", l.Addr().String())
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: maxHeaderBytes,
		BaseContext: func(net.Listener) context.Context { return ctx }, // so that streams end, too
	}
	stop := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if server.Shutdown(grace) != nil {
			_ = server.Close()
		}
	})
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve over HTTP: %w", err)
	}
	return context.Cause(ctx)
}
