package grpclock_test

import (
	"context"
	"fmt"
	"log"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	health "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/grpclock"
	"github.com/lockscope/lockscope/lock/memlock"
)

func ExampleUnary() {
	locker, err := memlock.New(memlock.NewNodes(3)) // redlock.Open in a service
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
	server := grpc.NewServer(grpc.WaitForHandlers(true), grpc.UnaryInterceptor(grpclock.Unary(locker,
		func(_ context.Context, _ string, request any) string {
			return "service:" + request.(*health.HealthCheckRequest).GetService()
		})))
	var client health.HealthClient
	health.RegisterHealthServer(server, service{work: func(ctx context.Context) error {
		fmt.Println("serving", lock.HeldLeases(ctx)[0].Resource)
		_, err := client.Check(context.Background(), &health.HealthCheckRequest{Service: "billing"})
		fmt.Println("a second call:", status.Code(err))
		return nil
	}})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go server.Serve(listener) // ends with Stop
	defer server.Stop()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	client = health.NewHealthClient(conn)
	_, err = client.Check(context.Background(), &health.HealthCheckRequest{Service: "billing"})
	fmt.Println("the first call:", status.Code(err))
	// Output:
	// serving service:billing
	// a second call: Aborted
	// the first call: OK
}
