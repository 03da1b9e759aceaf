// Package cluster runs real etcd members, as child processes on the loopback interface,
// each behind a proxy that cuts, delays and loses what passes: for tests and figures.
package cluster

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
)

// Options say what the members are like. The zero value is etcd's defaults, in one
// member.
type Options struct {
	Members int   // 0: 1
	NoSync  bool  // the members do not sync: what the operating system has survives all the same
	Quota   int64 // bytes; 0: etcd's default
	MaxOps  uint  // in one transaction; 0: etcd's default
	Token   string

	// TLS, if not nil, is how clients connect.
	TLS *TLS
}

// TLS are the files of members that show a certificate and demand one which the authority
// CA has signed, and what this package connects with.
type TLS struct {
	Cert, Key, CA string
	Client        *tls.Config `json:"-"`
}

func (o Options) scheme() string {
	if o.TLS != nil {
		return "https://"
	}
	return "http://"
}

// A Cluster is members that run. It is made by Start.
type Cluster struct {
	Members []*Member
	ports   []io.Closer // what keeps the members' addresses
}

// A Member is an etcd process behind a proxy. Its methods must not be called
// concurrently.
type Member struct {
	Proxy  *Proxy
	config config
	child  *exec.Cmd
	ended  chan struct{} // closed when the child has ended
	input  io.Closer     // the child ends when it is closed
}

// A config is what a child is told.
type config struct {
	Name, Dir, Client, Peer, Cluster, Log string
	Options                               Options
}

const env = "COWSTORE_ETCD_MEMBER"

// Main runs a member and does not return, in a process that Start has started. It must be
// called first in main, or TestMain, of a program that calls Start.
func Main() {
	text := os.Getenv(env)
	if text == "" {
		return
	}
	var c config
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		panic(err)
	}
	if err := c.run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (c config) run() error {
	cfg := embed.NewConfig()
	cfg.Name, cfg.Dir = c.Name, c.Dir
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = urls(c.Client), urls(c.Client)
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = urls(c.Peer), urls(c.Peer)
	cfg.InitialCluster = c.Cluster
	if c.Options.Token != "" {
		cfg.InitialClusterToken = c.Options.Token
	}
	cfg.LogLevel, cfg.LogOutputs = "error", []string{c.Log}
	cfg.UnsafeNoFsync = c.Options.NoSync
	cfg.QuotaBackendBytes = c.Options.Quota
	cfg.BcryptCost = 4              // the least: the passwords are no secret
	cfg.SocketOpts.ReusePort = true // see reserve
	if c.Options.MaxOps > 0 {
		cfg.MaxTxnOps = c.Options.MaxOps
	}
	if t := c.Options.TLS; t != nil {
		cfg.ClientTLSInfo = transport.TLSInfo{CertFile: t.Cert, KeyFile: t.Key, TrustedCAFile: t.CA, ClientCertAuth: true}
	}
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0) // who started this is gone
	}()
	return <-e.Err()
}

func urls(text string) []url.URL {
	u, err := url.Parse(text)
	if err != nil {
		panic(err)
	}
	return []url.URL{*u}
}

// Start starts members with their data in a directory, and waits until they have a leader.
func Start(ctx context.Context, dir string, o Options) (*Cluster, error) {
	c := new(Cluster)
	var all []string
	for i := range max(o.Members, 1) {
		var addresses [2]string // of clients and peers
		for i := range addresses {
			port, address, err := reserve()
			if err != nil {
				return nil, errors.Join(err, c.Close())
			}
			c.ports, addresses[i] = append(c.ports, port), address
		}
		client, peer := addresses[0], addresses[1]
		proxy, err := newProxy(client)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		m := &Member{Proxy: proxy, config: config{
			Name: fmt.Sprint("m", i), Dir: filepath.Join(dir, fmt.Sprint("m", i)), Log: filepath.Join(dir, fmt.Sprint("m", i, ".log")),
			Client: o.scheme() + client, Peer: "http://" + peer, Options: o,
		}}
		all = append(all, m.config.Name+"="+m.config.Peer)
		c.Members = append(c.Members, m)
	}
	for _, m := range c.Members {
		m.config.Cluster = strings.Join(all, ",")
		if err := m.Start(); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	for _, m := range c.Members {
		if err := m.Ready(ctx); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// Close kills the members. Nothing of them is left but the data.
func (c *Cluster) Close() error {
	var errs []error
	for _, m := range c.Members {
		errs = append(errs, m.Kill(), m.Proxy.Close())
	}
	for _, p := range c.ports {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

// Client returns a client of all members, by their proxies.
func (c *Cluster) Client(o ...grpc.DialOption) (*clientv3.Client, error) {
	var all []string
	for _, m := range c.Members {
		all = append(all, m.Proxy.Endpoint())
	}
	return c.Members[0].client(all, o...)
}

// Leader returns the member that leads, or nil if nobody says so.
func (c *Cluster) Leader(ctx context.Context) *Member {
	for _, m := range c.Members {
		if s, err := m.status(ctx); err == nil && s.Leader == s.Header.MemberId {
			return m
		}
	}
	return nil
}

func (m *Member) client(endpoints []string, o ...grpc.DialOption) (*clientv3.Client, error) {
	var with *tls.Config
	if t := m.config.Options.TLS; t != nil {
		with = t.Client
	}
	return clientv3.New(clientv3.Config{
		Endpoints:            endpoints,
		TLS:                  with,
		DialTimeout:          5 * time.Second,
		DialKeepAliveTime:    5 * time.Second,
		DialKeepAliveTimeout: 2 * time.Second,
		DialOptions:          o,
		Logger:               zap.NewNop(),
	})
}

// Direct returns a client of the member alone, not by its proxy.
func (m *Member) Direct() (*clientv3.Client, error) { return m.client([]string{m.config.Client}) }

// Start starts the member, which must not run.
func (m *Member) Start() error {
	text, err := json.Marshal(m.config)
	if err != nil {
		return err
	}
	path, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.Command(path)
	child.Env = append(os.Environ(), env+"="+string(text))
	child.Stderr = os.Stderr
	if m.input, err = child.StdinPipe(); err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	m.child, m.ended = child, ended
	go func() {
		defer close(ended)
		_ = child.Wait() // it says why, or was killed
	}()
	return nil
}

// Ready waits until the member has a leader.
func (m *Member) Ready(ctx context.Context) error {
	for {
		s, err := m.status(ctx)
		if err == nil && s.Leader != 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w: %w", m.config.Name, context.Cause(ctx), err)
		case <-m.ended:
			return fmt.Errorf("%s has ended", m.config.Name)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (m *Member) status(ctx context.Context) (*clientv3.StatusResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	direct, err := m.Direct()
	if err != nil {
		return nil, err
	}
	defer direct.Close()
	return direct.Status(ctx, m.config.Client)
}

// Kill kills the member, if it runs.
func (m *Member) Kill() error {
	if m.child == nil {
		return nil
	}
	err := m.child.Process.Kill()
	<-m.ended
	_ = m.input.Close()
	m.child = nil
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	return err
}

// Dir is where the member keeps its data.
func (m *Member) Dir() string { return m.config.Dir }

// Pause stops the member, which goes on after Continue as if nothing were.
func (m *Member) Pause() error { return m.child.Process.Signal(syscall.SIGSTOP) }

// Continue ends a Pause.
func (m *Member) Continue() error { return m.child.Process.Signal(syscall.SIGCONT) }

// reserve returns an address of this machine that is kept for a member until it is closed,
// also while the member does not run: the socket is bound and does not listen, and who binds
// the port as well must say, as members do, that it may be shared.
func reserve() (socket io.Closer, address string, err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, "", fmt.Errorf("no socket: %w", err)
	}
	file := os.NewFile(uintptr(fd), "port")
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	}
	var at unix.Sockaddr
	if err == nil {
		at, err = unix.Getsockname(fd)
	}
	if err != nil {
		return nil, "", errors.Join(fmt.Errorf("no port: %w", err), file.Close())
	}
	return file, fmt.Sprint("127.0.0.1:", at.(*unix.SockaddrInet4).Port), nil
}
