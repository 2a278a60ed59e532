#include <stdio.h>

int main(void)
{
    puts("clockwise");
    return 0;
}
