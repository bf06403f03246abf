/* Loops of many kinds: graphs, sorting, strings, transforms, number theory. Labels as in arrays.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <complex.h>
#define N 64
typedef struct { float x, y, z; int id; char tag[3]; } P;
static P ps[N];
static int g[N][N], lcs[N+1][N+1], par[N], deg[N], sieve[N*4], cnt[N], out[N*2], work[N], sorted[N][8];
static double u[N][N], v[N][N], w[N], re[N], im[N], t1[N], t2[N];
static int late[8], rows[8]={9,9,9,9,9,9,9,9}, last[8];
static char names[N][16], txt[N*4], line[N];
static unsigned bits[N];
static unsigned long seed = 12345;
struct node { int v; struct node *next; } *head, nodes[N];
static unsigned lcg(void){ seed = seed*6364136223846793005UL+1442695040888963407UL; return (unsigned)(seed>>33); }
static unsigned lcg_r(unsigned *s){ *s = *s*1664525u+1013904223u; return *s; }
static int collatz(int n){ int k=0; while(n!=1 && k<200){ n = n%2? 3*n+1 : n/2; k++; } return k; }
static int fibr(int n){ return n<2?n:fibr(n-1)+fibr(n-2); }
static int cmp(const void*a,const void*b){ return *(const int*)a-*(const int*)b; }
static int find(int i){ int k=0; while(par[i]!=i && k++<N) i=par[i]; return i; }
int main(void){
  for (int i=0;i<N;i++) { ps[i].x=i; ps[i].y=2*i; ps[i].id=i; ps[i].tag[1]='a'+i%26; } /* @parallel */
  for (int i=0;i<N;i++) ps[i].z = sqrtf(ps[i].x*ps[i].x+ps[i].y*ps[i].y); /* @parallel */
  for (int i=0;i<N;i++) { float tmp=ps[i].x; ps[i].x=ps[i].y; ps[i].y=tmp; } /* @parallel */
  for (int i=0;i<N;i++) /* @parallel */
    for (int j=0;j<N;j++) /* @parallel */
      g[i][j] = (i*37+j*11)%97+1;
  for (int k=0;k<N;k++) /* @serial */
    for (int i=0;i<N;i++)
      for (int j=0;j<N;j++) 
        if (g[i][k]+g[k][j]<g[i][j]) g[i][j]=g[i][k]+g[k][j];
  for (int i=1;i<=N;i++) /* @serial */
    for (int j=1;j<=N;j++) /* @serial */
      lcs[i][j] = (i*7)%5==(j*3)%5 ? lcs[i-1][j-1]+1 : (lcs[i-1][j]>lcs[i][j-1]?lcs[i-1][j]:lcs[i][j-1]);
  for (int i=2;i<N*4;i++) sieve[i]=1; /* @parallel */
  for (int k=0;k<8;k++) rows[k]=k*k; /* @parallel */
  for (int p=2;p*p<N*4;p++)
    if (sieve[p]) for (int m=p*p;m<N*4;m+=p) sieve[m]=0; /* @parallel */
  for (int i=0;i<N;i++) par[i]=i; /* @parallel */
  for (int i=0;i<N;i++) { int a=find(i), b=find((i*5+3)%N); par[a]=b; } /* @serial */
  for (int i=0;i<N;i++) cnt[i]=collatz(i+1); /* @parallel */
  for (int i=0;i<20;i++) cnt[i]=fibr(i%15); /* @parallel */
  int n=0;
  for (int i=0;i<N;i++) if (cnt[i]%3==0) out[n++]=cnt[i]; /* @serial */
  int mx=cnt[0], at=0;
  for (int i=1;i<N;i++) if (cnt[i]>mx) { mx=cnt[i]; at=i; }
  unsigned x=0,o=0,an=~0u;
  for (int i=0;i<N;i++) x^=cnt[i]*2654435761u; /* @clauses */
  for (int i=0;i<N;i++) o|=1u<<(cnt[i]&31); /* @clauses */
  for (int i=0;i<N;i++) an&=~(1u<<(cnt[i]&15)); /* @clauses */
  long prod=1; 
  for (int i=0;i<N;i++) prod=prod*(cnt[i]|1)%1000003; /* @serial */
  double s1=0,s2=0;
  for (int i=0;i<N;i++) { s1+=cnt[i]; s2+=(double)cnt[i]*cnt[i]; } /* @clauses */
  int all=1;
  for (int i=0;i<N;i++) all = all && cnt[i]>=0; /* @clauses */
  int odd=0;
  for (int i=0;i<N;i++) odd += cnt[i]&1; /* @clauses */
  for (int i=0;i<N;i++) bits[i]=lcg(); /* @serial */
  for (int i=0;i<N;i++) { unsigned s=i+1; for(int k=0;k<5;k++) lcg_r(&s); bits[i]=s; } /* @parallel */
  for (int i=0;i<N;i++) bits[i]=rand(); /* @serial */
  for (int t=0;t<6;t++) { /* @serial */
    for (int i=1;i<N-1;i++) /* @parallel */
      for (int j=1;j<N-1;j++) /* @parallel */
        v[i][j]=0.25*(u[i-1][j]+u[i+1][j]+u[i][j-1]+u[i][j+1])+i;
    for (int i=1;i<N-1;i++) /* @parallel */
      memcpy(&u[i][1],&v[i][1],sizeof(double)*(N-2));
  }
  for (int t=0;t<4;t++) /* @serial */
    for (int c=0;c<2;c++) /* @serial */
      for (int i=1;i<N-1;i++) /* @parallel */
        for (int j=1+(i+c)%2;j<N-1;j+=2) /* @parallel */
          u[i][j]=0.25*(u[i-1][j]+u[i+1][j]+u[i][j-1]+u[i][j+1]);
  for (int i=1;i<N-1;i++) /* @serial */
    for (int j=1;j<N-1;j++) /* @serial */
      u[i][j]=0.25*(u[i-1][j]+u[i+1][j]+u[i][j-1]+u[i][j+1]);
  for (int i=0;i<N;i++) { re[i]=cos(i); im[i]=sin(i); } /* @parallel */
  for (int len=2;len<=N;len*=2) /* @serial */
    for (int b=0;b<N;b+=len) /* @parallel */
      for (int k=0;k<len/2;k++) { /* @parallel */
        double c=cos(2*M_PI*k/len), s=-sin(2*M_PI*k/len);
        int p=b+k,q=p+len/2; double xr=re[q]*c-im[q]*s, xi=re[q]*s+im[q]*c;
        re[q]=re[p]-xr; im[q]=im[p]-xi; re[p]+=xr; im[p]+=xi; }
  for (int i=0;i<N;i++) { /* @clauses */
    for (int k=0;k<N;k++) work[k]=(i*k)%17;
    int s=0; for (int k=0;k<N;k++) s+=work[N-1-k]; 
    w[i]=s; }
  double prev=0;
  for (int i=0;i<N;i++) { t1[i]=w[i]+prev; prev=w[i]; }
  for (int i=0;i<N;i++) sprintf(names[i],"n%d",i*3);
  for (int i=0;i<N;i++) { for(int k=0;k<8;k++) sorted[i][k]=(k*7+i)%13; qsort(sorted[i],8,sizeof(int),cmp); }
  for (int i=0;i<N;i++) fprintf(stderr,"%d\n",i); /* @serial */
  for (int i=0;i<N;i++) { nodes[i].v=i; nodes[i].next=head; head=&nodes[i]; } /* */
  long sum=0;
  for (struct node*p=head;p;p=p->next) sum+=p->v;
  for (struct node*p=head;p;p=p->next) p->v*=2;
  int pos=0;
  for (int i=0;i<N;i++) { pos+=sprintf(txt+pos,"%d,",i%9); } /* @serial */
  int words=0,in=0;
  for (int i=0;txt[i];i++) { if(txt[i]==',') in=0; else if(!in){ in=1; words++; } } /* @serial */
  for (int i=1;i<N;i++) t2[i]=t2[i-1]*0.9+w[i]; /* @serial */
  for (int i=0;i<N/2;i++) { double t=w[i]; w[i]=w[N-1-i]; w[N-1-i]=t; } /* @parallel */
  for (int i=0;i<N;i++) /* @parallel */
    for (int j=i+1;j<N;j++) { double t=v[i][j]; v[i][j]=v[j][i]; v[j][i]=t; } /* @parallel */
  double complex z=0;
  for (int i=0;i<N;i++) z+=re[i]+I*im[i]; /* @clauses */
  int first=-1;
  for (int i=0;i<N;i++) if (cnt[i]==17) { first=i; break; }
  int i=0; do { line[i]='a'+i%26; i++; } while(i<N); /* @parallel */
  int a=0,b=N-1; while(a<b){ char c=line[a]; line[a]=line[b]; line[b]=c; a++; b--; } /* @clauses */
  double acc[4]={0};
  for (int i=0;i<N;i++) acc[i&3]+=w[i]; /* @clauses */
  for (int i=0;i<N;i++) deg[(i*13)%N]=i; /* @parallel */
  for (int i=0;i<N;i++) deg[(i*13)%8]=i; /* @serial */
  for (int i=0;i<N;i++) late[(i*i)%8]=i; /* @serial */
  for (int i=0;i<N;i++) for (int k=0;k<4;k++) rows[k]=i+k; /* @serial */
  for (int i=0;i<N;i++) for (int k=0;k<8;k++) last[k]=i*k; /* @clauses */
  float mn=1e9f;
  for (int i=0;i<N;i++) mn=fminf(mn,ps[i].z); /* @clauses */
  static double buf[2][N]; int cur=0;
  for (int t=0;t<5;t++) { for(int k=1;k<N-1;k++) buf[1-cur][k]=(buf[cur][k-1]+buf[cur][k+1])/2+t; cur=1-cur; } /* @serial */
  int *grow=NULL; int cap=0;
  for (int i=0;i<N;i++) { if(i>=cap){ cap=cap?2*cap:4; grow=realloc(grow,cap*sizeof(int)); } grow[i]=i; } /* @serial */
  for (int i=0;i<N;i++) { char *c=malloc(32); snprintf(c,32,"%d",i); cnt[i]=strlen(c); free(c); }
  for (int i=0;i<N;i++) { int *m=calloc(10,sizeof(int)); for(int k=0;k<10;k++) m[k]=k*i; cnt[i]=m[9]; free(m); } /* @parallel */
  printf("%d %d %u %u %u %ld %g %g %d %d %ld %d %g %d %g %g %g %d %d\n",n,at,x,o,an,prod,s1,s2,all,odd,sum,words,creal(z),first,acc[1],mn,prev,deg[3]+late[1]+rows[3]+rows[6]+last[5],grow[5]);
  free(grow);
  return names[3][1]+line[4]+sorted[3][2]+lcs[N][N]+(int)u[3][4]+(int)t2[9]+(int)t1[4]>1000000;
}
